import Errand
import ErrandXML
import Testing

/// The code of the guide "Commands" that is about XML; GuideTests compares it line by line.
@Suite struct XMLSnippets {
    struct GetFeed: Command {
        var path: String { "feed.xml" }
        typealias Response = XMLResponse
    }

    @Test func feeds() throws {
        let response = Response(statusCode: 200, body: Array("<feed><title>t</title></feed>".utf8))
        #expect(try GetFeed().decode(response).root["title"]?.text == "t")
    }
}
