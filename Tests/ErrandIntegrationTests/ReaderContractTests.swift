import Errand
import ErrandTesting
import HTTPTypes
import Testing

/// A reader of a body that does not keep to what ``BodyReader/next(maximum:)`` says.
@Suite(.timeLimit(.minutes(20))) struct ReaderContractTests {
    private struct Source: RequestBodySource {
        var excess: Int
        var length: Int64? { nil }
        var isReplayable: Bool { true }
        func open() throws -> sending any BodyReader { Reader(excess: excess) }
    }

    private final class Reader: BodyReader {
        let excess: Int
        init(excess: Int) { self.excess = excess }
        func next(maximum: Int) async throws -> [UInt8]? {
            excess > 0 ? [UInt8](repeating: 1, count: maximum + excess) : []
        }
        func close() {}
    }

    private struct Upload: Command {
        var path = "upload"
        var method = HTTPRequest.Method.put
        var body: RequestBody
    }

    /// More than asked for, and nothing at all, for ever.
    @Test(arguments: [1, 0]) func isInvalid(excess: Int) async throws {
        let server = try ScriptedServer()
        try server.on("/upload", [.echo])
        try await Client.with(Client(configuration: .patient(baseURL: server.url()))) { client in
            _ = await #expect(throws: ErrandError.invalidBody) {
                try await client.run(Upload(body: .source(Source(excess: excess))))
            }
        }
    }
}
