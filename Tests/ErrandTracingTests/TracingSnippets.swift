import Errand
import ErrandTesting
import ErrandTracing
import InMemoryTracing
import Testing
import Tracing

/// The code of the guide "Seeing what the client does" that is about spans; GuideTests compares it line by line.
@Suite struct TracingSnippets {
    struct GetUser: Command {
        var id: Int
        var path: String { "users/\(id)" }
        struct Response: Decodable, Sendable { var name: String }
    }

    private let stub = StubTransport { _ in .response(status: 200, body: #"{"name": "Ada"}"#) }

    @Test func tracing() async throws {
        let tracer = InMemoryTracer()
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.tracing = ClientTracing()
        configuration.tracing = ClientTracing(.init(requestSpans: .always, responseHeaders: [.server]), tracer: tracer)
        let client = Client(configuration: configuration, transport: stub)
        let user = try await tracer.withSpan("show user") { _ in
            try await client.run(GetUser(id: 1))
        }
        #expect(user.name == "Ada")
        await client.shutdown()
        // The caller's, the request's, the attempt's.
        #expect(tracer.finishedSpans.map(\.operationName) == ["GET", "GetUser", "show user"])
    }
}
