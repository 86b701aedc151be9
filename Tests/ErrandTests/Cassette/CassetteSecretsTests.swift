import Errand
import HTTPTypes
import Testing

@testable import ErrandModel
@testable import ErrandTesting

/// What a program gets in place of the secrets of a recorded response.
@Suite(.timeLimit(.minutes(20))) struct CassetteSecretsTests {
    private struct Session: Decodable, Sendable {
        var session_token: String
        var token: Int
        var secret: [String: String]
        var key: String
    }

    private struct Login: Command {
        var path = "login"
        typealias Response = Session
    }

    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    private func run(_ mode: Cassette.Mode, over base: StubTransport) async throws -> (Session, String, Cassette) {
        let cassette = try Cassette(folder.path + "/c.har", mode: mode)
        let transport = CassetteTransport(cassette, over: base)
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: transport)
        let session = try await client.run(Login())
        // The value goes into a path.
        let text = try await client.run(GetText(path: "sessions/\(session.session_token)"))
        await client.shutdown()
        await transport.stop()
        try cassette.save()
        return (session, text, cassette)
    }

    @Test func theProgramGoesOnWithPlaceholders() async throws {
        let base = StubTransport { description in
            description.url.hasSuffix("login")
                ? .response(
                    status: 200, headers: [.contentType: "application/json"],
                    body: #"{"session_token": "s3cret-s3cret", "token": 12, "secret": {"a": "s3cret-two"}, "key": "k"}"#
                )
                : .response(status: 200, headers: [.contentType: "text/plain"], body: "in")
        }
        let (session, _, recording) = try await run(.once, over: base)
        #expect(session.session_token == "s3cret-s3cret" && session.token == 12)
        #expect(recording.hiddenNames == ["session_token": 1, "token": 1, "secret": 1])
        let har = try HAR(contentsOf: recording.path)
        #expect(har.comment == "hidden in responses: secret (1), session_token (1), token (1)")
        #expect(!har.text().contains("s3cret"))
        #expect(har.entries.last?.request.url == "http://test/sessions/REDACTED-1")
        let (replayed, text, cassette) = try await run(.none, over: StubTransport())
        #expect(replayed.session_token == "REDACTED-1" && replayed.token == 0 && text == "in")
        #expect(replayed.secret == ["a": "REDACTED-2"] && replayed.key == "k")
        #expect(cassette.unused.isEmpty)
    }

    @Test(arguments: [
        (#"{"token": null, "b": 1}"#, #"{"token": null, "b": 1}"#),
        (
            #"{"token": [1, -2.5e3, true, "x", {"n": "x"}]}"#,
            #"{"token": [0, 0, true, "REDACTED-1", {"n": "REDACTED-1"}]}"#
        ),
        (#"{"token":""}"#, #"{"token":""}"#), (#"{"token":"cut"#, #"{"token":"REDACTED-1""#),
        (#"{"token":{"a":"cut"#, #"{"token":{"a":"REDACTED-1""#),
        (#"{"token":"REDACTED-7"}"#, #"{"token":"REDACTED-7"}"#),
    ])
    func valuesKeepTheirTypes(given: String, shown: String) {
        let body = Redaction.standard.body(Array(given.utf8), contentType: "application/json", by: Pseudonyms())
        #expect(String(decoding: body, as: UTF8.self) == shown)
    }

    @Test func aHookChangesWhatIsKept() async throws {
        let path = folder.path + "/hook.har"
        let cassette = try Cassette(path, mode: .once) { entry in
            entry.response?.body.bytes = Array("kept".utf8)
            entry.request.headers[.userAgent] = nil
        }
        let answering = StubTransport { _ in
            .response(status: 200, headers: [.contentType: "text/plain"], body: "s3cret")
        }
        let transport = CassetteTransport(cassette, over: answering)
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: transport)
        for path in ["a", "b"] { _ = try await client.run(GetText(path: path)) }
        await client.shutdown()
        await transport.stop()
        try cassette.save()
        let har = try HAR(contentsOf: path)
        #expect(!har.text().contains("s3cret") && har.entries.allSatisfy { $0.request.headers[.userAgent] == nil })
        // What no request uses can be removed.
        let replaying = try Cassette(path, mode: .none)
        let replay = CassetteTransport(replaying, over: StubTransport())
        let second = Client(configuration: .init(baseURL: "http://test/"), transport: replay)
        #expect(try await second.run(GetText(path: "b")) == "kept")
        await second.shutdown()
        await replay.stop()
        try replaying.save()
        #expect(try HAR(contentsOf: path).entries.count == 2)
        try replaying.save(pruning: true)
        #expect(try HAR(contentsOf: path).entries.map(\.request.url) == ["http://test/b"])
    }

    @Test func wordsStandForValues() {
        let words = Pseudonyms(generation: 3)
        #expect(words.word(for: "long value 1") == "REDACTED-3-1" && words.word(for: "short") == "REDACTED-3-2")
        #expect(words.word(for: "long value 1, longer") == "REDACTED-3-3")
        #expect(words.applied(to: "/long%20value%201?a=short&b=long value 1") == "/REDACTED-3-1?a=short&b=REDACTED-3-1")
        #expect(words.applied(to: "long value 1, longer") == "REDACTED-3-3")
    }
}
