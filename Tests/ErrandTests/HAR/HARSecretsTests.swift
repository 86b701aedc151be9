import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandLogging
@testable import ErrandModel

private struct Send: Command {
    var method: HTTPRequest.Method { .put }
    var path = "up"
    var headers = HTTPFields()
    var body: RequestBody
    typealias Response = Errand.Response
}

/// Secrets that are not plain to see.
@Suite(.timeLimit(.minutes(20))) struct HARSecretsTests {
    private func gzip(_ text: String) throws -> [UInt8] {
        try Deflater(level: 6).compress(Array(text.utf8), isLast: true)
    }

    private func entry(_ traffic: HARAccessory, _ send: Send, _ response: StubResponseText) async throws -> HAR.Entry {
        let answer = Response(statusCode: 200, headers: response.headers, body: response.body)
        let client = Client.stubbed(StubTransport { _ in .response(answer) }) { $0.accessories = [traffic] }
        _ = try await client.run(send)
        return try #require(traffic.har.entries.last)
    }

    private struct StubResponseText {
        var headers = HTTPFields()
        var body: [UInt8] = []
    }

    @Test func compressedBodiesAreKeptPlain() async throws {
        let traffic = HARAccessory()
        let send = Send(body: .json(["name": "ada", "password": "s3cret"]).gzipped())
        let answer = StubResponseText(
            headers: [.contentType: "application/json", .contentEncoding: "gzip"],
            body: try gzip(#"{"token":"s3cret","id":1}"#))
        let entry = try await entry(traffic, send, answer)
        let sent = try #require(entry.request.body)
        #expect(String(decoding: sent.bytes, as: UTF8.self) == #"{"name":"ada","password":"REDACTED"}"#)
        #expect(!sent.isTruncated && entry.request.headers[.contentEncoding] == nil)
        let received = try #require(entry.response)
        #expect(String(decoding: received.body.bytes, as: UTF8.self) == #"{"token":"REDACTED","id":1}"#)
        #expect(!received.body.isTruncated && received.headers[.contentEncoding] == nil)
    }

    @Test func bodiesInUnknownCodingsAreDropped() async throws {
        let traffic = HARAccessory()
        let headers: HTTPFields = [.contentType: "application/json", .contentEncoding: "br"]
        let text = Array(#"{"password":"s3cret"}"#.utf8)
        let entry = try await entry(
            traffic, Send(headers: headers, body: .bytes(text)), StubResponseText(headers: headers, body: text))
        for body in [entry.request.body, entry.response?.body] {
            #expect(body?.bytes == [] && body?.isTruncated == true && body?.size == text.count)
        }
        #expect(entry.request.headers[.contentEncoding] == "br")
        #expect(!traffic.har.text().contains("s3cret"))
        // Where nothing is hidden, nothing is dropped.
        let open = HARAccessory(redaction: .none)
        let shown = try await self.entry(open, Send(headers: headers, body: .bytes(text)), StubResponseText())
        #expect(shown.request.body?.bytes == text)
    }

    /// Such as those of a transport of a test.
    @Test func messagesOfFailuresHaveNoSecrets() async throws {
        let traffic = HARAccessory()
        let error = ErrandError.connectFailed.with(message: "no way to 'http://ada:s3cret@h/a?token=s3cret', sorry")
        let client = Client.stubbed(StubTransport { _ in .failure(error) }) { $0.accessories = [traffic] }
        let result = await client.result(of: Send(body: .empty))
        #expect(throws: ErrandError.connectFailed) { try result.get() }
        let message = traffic.har.entries.first?.failure?.message
        #expect(message == "no way to 'http://REDACTED@h/a?token=REDACTED', sorry")
    }

    @Test(arguments: [
        ("url=https://ada:pw@h/x", "url=https://REDACTED@h/x"), ("[https://ada:pw@h/]", "[https://REDACTED@h/]"),
        ("at\nhttps://ada:pw@h/?token=pw\nend", "at\nhttps://REDACTED@h/?token=REDACTED\nend"),
        ("<https://ada:p'w)@h/?a=1&token=pw>.", "<https://REDACTED@h/?a=1&token=REDACTED>."),
        ("https://ada:p/w@h/x", "https://REDACTED@h/x"),
        ("http://a:pw@c|http://d:pw@f/", "http://REDACTED@c|http://REDACTED@f/"),
        ("'http://h:80/users/a@b' and //", "'http://h:80/users/a@b' and //"),
    ]) func urlsAreFoundAnywhere(text: String, shown: String) {
        #expect(Redaction.standard.text(text) == shown)
        #expect(Redaction.none.text(text) == text)
    }

    @Test func codingsAreUndone() throws {
        let (one, two) = (try gzip("one"), try gzip("two"))
        #expect(Inflater.plain(one + two, codings: "GZIP, identity", atMost: 100)?.bytes == Array("onetwo".utf8))
        let twice = try Deflater(level: 6).compress(one, isLast: true)
        #expect(Inflater.plain(twice, codings: "gzip, x-gzip", atMost: 100)?.bytes == Array("one".utf8))
        let cut = try #require(Inflater.plain(Array(one.dropLast(9)), codings: "gzip", atMost: 100))
        #expect(!cut.isWhole && Array("one".utf8).starts(with: cut.bytes))
        let bomb = try gzip(String(repeating: "a", count: 1_000_000))
        let bounded = try #require(Inflater.plain(bomb, codings: "gzip", atMost: 10))
        #expect(bounded.bytes.count == 10 && !bounded.isWhole)
        #expect(Inflater.plain(bomb, codings: "gzip", atMost: 1_000_000)?.isWhole == true)
        #expect(Inflater.plain(Array("plain".utf8), codings: "gzip", atMost: 100) == nil)
        #expect(Inflater.plain(one, codings: "gzip, br", atMost: 100) == nil)
        #expect(Inflater.plain([1], codings: "identity", atMost: 100)?.bytes == [1])
    }
}
