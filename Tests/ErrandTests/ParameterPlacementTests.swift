import Errand
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Ask: Command {
    var method = HTTPRequest.Method.get
    var path = "http://h/p"
    var query: [QueryItem] = []
    var headers = HTTPFields()
    var parameters: Parameters? = ["b": [1, 2], "a": "x y"]
    var parameterEncoding = ParameterEncoding.automatic
    var body = RequestBody.empty
}

@Suite struct ParameterPlacementTests {
    private func built(_ command: Ask) throws(ErrandError) -> RequestDescription {
        try RequestBuilder(Client.Configuration()).description(of: command)
    }

    private func text(_ description: RequestDescription) -> String {
        String(decoding: description.bodyBytes, as: UTF8.self)
    }

    @Test(arguments: [HTTPRequest.Method.get, .head, .delete])
    func inTheQueryByMethod(method: HTTPRequest.Method) throws {
        let description = try built(Ask(method: method))
        #expect(description.url == "http://h/p?a=x%20y&b%5B%5D=1&b%5B%5D=2")
        #expect(description.bodyBytes.isEmpty && description.headers[.contentType] == nil)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch])
    func asAFormByMethod(method: HTTPRequest.Method) throws {
        let description = try built(Ask(method: method))
        #expect(description.url == "http://h/p")
        #expect(text(description) == "a=x%20y&b%5B%5D=1&b%5B%5D=2")
        #expect(description.headers[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test func behindAQueryAndBeforeAFragment() throws {
        var ask = Ask(path: "http://h/p?x=1#f", query: [QueryItem("q", "2")], parameters: ["z": 3])
        #expect(try built(ask).url == "http://h/p?x=1&q=2&z=3#f")
        ask.parameters = [:]
        ask.query = []
        #expect(try built(ask).url == "http://h/p?x=1#f")
        ask.path = "http://h/p"
        #expect(try built(ask).url == "http://h/p")
    }

    @Test func anywhereForAnyMethod() throws {
        var ask = Ask(method: .delete, parameters: ["a": 1], parameterEncoding: .json)
        var description = try built(ask)
        #expect(text(description) == #"{"a":1}"# && description.headers[.contentType] == "application/json")
        ask = Ask(method: .get, parameters: ["a": 1], parameterEncoding: .form)
        #expect(text(try built(ask)) == "a=1")
        ask = Ask(method: .post, parameters: ["a": 1], parameterEncoding: .query)
        description = try built(ask)
        #expect(description.url == "http://h/p?a=1" && description.bodyBytes.isEmpty)
        var style = QueryStyle()
        style.spaces = .plus
        ask = Ask(method: .post, parameters: ["a": "b c"], parameterEncoding: .form(style))
        #expect(text(try built(ask)) == "a=b+c")
    }

    @Test func anEmptyFormHasItsType() throws {
        let description = try built(Ask(method: .post, parameters: [:]))
        #expect(description.headers[.contentType] == "application/x-www-form-urlencoded")
        #expect(description.bodyBytes.isEmpty)
        #expect(try built(Ask(method: .post, parameters: nil)).headers[.contentType] == nil)
        #expect(text(try built(Ask(method: .post, parameters: [:], parameterEncoding: .json))) == "{}")
    }

    @Test func anOwnContentTypeWins() throws {
        let ask = Ask(method: .post, headers: [.contentType: "application/vnd.x+json"], parameterEncoding: .json)
        #expect(try built(ask).headers.fields[values: .contentType] == ["application/vnd.x+json"])
    }

    @Test func besideABody() throws {
        let ask = Ask(method: .get, parameters: ["a": 1], body: .string("text"))
        #expect(try built(ask).url == "http://h/p?a=1")
        #expect(text(try built(ask)) == "text")
        for encoding in [ParameterEncoding.automatic, .form, .json] {
            #expect(throws: ErrandError.invalidBody) {
                try built(Ask(method: .post, parameters: ["a": 1], parameterEncoding: encoding, body: .string("text")))
            }
        }
    }

    @Test(arguments: [ParameterEncoding.automatic, .form, .json])
    func beforeThePartsOfAMultipartBody(encoding: ParameterEncoding) throws {
        let body = RequestBody.multipart([.string("last", name: "part")], boundary: "B")
        let ask = Ask(method: .patch, parameters: ["o": ["k": "v"], "n": nil], parameterEncoding: encoding, body: body)
        let expected = [("n", ""), ("o[k]", "v"), ("part", "last")].map { name, value in
            "--B\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        #expect(text(try built(ask)) == expected.joined() + "--B--\r\n")
    }

    @Test func valuesThatCannotBeSent() {
        for encoding in [ParameterEncoding.query, .form, .json] {
            #expect(throws: ErrandError.requestEncodingFailed) {
                try built(Ask(method: .post, parameters: ["a": .double(.nan)], parameterEncoding: encoding))
            }
        }
    }
}
