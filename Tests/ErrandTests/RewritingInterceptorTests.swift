import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// What becomes of a request that an interceptor leads elsewhere or gives another body.
@Suite struct RewritingInterceptorTests {
    private struct Rewrite: PreparingInterceptor {
        var change: @Sendable (inout RequestDescription) -> Void

        func prepare(
            _ request: RequestDescription, in context: InterceptionContext
        ) async throws -> RequestDescription {
            var request = request
            change(&request)
            return request
        }
    }

    private struct Ask: Command {
        var path = "https://a.test/"
        var connection: ConnectionOptions?
        var interceptors: [any Interceptor]

        init(connection: ConnectionOptions? = nil, _ change: @escaping @Sendable (inout RequestDescription) -> Void) {
            self.connection = connection
            interceptors = [Rewrite(change: change)]
        }
    }

    private static let a = ConnectionOptions.TLS(clientCertificate: "/a.pem")
    private static let b = ConnectionOptions.TLS(pinnedKeys: ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="])

    private func sent(_ command: Ask) async throws -> RequestDescription {
        let stub = StubTransport { _ in .response(status: 200) }
        let client = Client.stubbed(stub) { configuration in
            configuration.connection.tls = .init(caFile: "/own.pem", clientCertificate: "/own.crt")
            configuration.tlsPolicies.hosts = ["a.test": Self.a, "b.test": Self.b]
        }
        _ = try await client.run(command)
        await client.shutdown(.cancel)
        return try #require(stub.submitted.first)
    }

    @Test func theNewHostsTLSPolicyApplies() async throws {
        let moved = try await sent(Ask { $0.url = "https://b.test/" })
        let client = ConnectionOptions.TLS(caFile: "/own.pem", clientCertificate: "/own.crt")
        #expect(moved.settings.connection?.tls == Self.b.inheriting(client))
        let within = try await sent(Ask { $0.url += "x" })
        #expect(within.settings.connection?.tls == Self.a.inheriting(client))
        // As if the command had been for that host: the client's own, its certificate included. The program leads there,
        // not a server.
        let elsewhere = try await sent(Ask { $0.url = "https://c.test/" })
        #expect(elsewhere.settings.connection == nil)
        // A request's own options go with it, before what the host's entry says.
        let own = ConnectionOptions(tls: .init(caFile: "/r.pem"))
        let both = try await sent(Ask(connection: own) { $0.url = "https://b.test/" })
        #expect(
            both.settings.connection
                == own.inheriting(ConnectionOptions(encodings: .all, tls: Self.b.inheriting(client))))
    }

    /// Nobody would write it, and the request would wait for ever.
    @Test func aBodyThatNobodyWritesIsRefused() async throws {
        let stub = StubTransport { _ in .response(status: 200) }
        let client = Client.stubbed(stub)
        do {
            _ = try await client.run(Ask { $0.body = .stream(length: nil) })
            Issue.record("it was sent")
        } catch let error as ErrandError {
            #expect(error == .invalidBody)
            #expect(error.isRefusal)
        }
        #expect(stub.submitted.isEmpty)
        await client.shutdown(.cancel)
    }

    /// The first transfer was sent: what keeps its replay from being sent is no refusal.
    @Test func aReplayThatIsSpoiltIsNoRefusal() async throws {
        struct Spoil: StepwiseInterceptor {
            func prepare(
                _ request: RequestDescription, in context: InterceptionContext
            ) async throws -> RequestDescription {
                var request = request
                if context.replays > 0 { request.body = .stream(length: nil) }
                return request
            }
            func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
                context.replays == 0
            }

            func transform(_ response: Errand.Response, in context: InterceptionContext) -> Errand.Response { response }
        }
        let client = Client.stubbed(StubTransport { _ in .response(status: 503) }) { $0.interceptors = [Spoil()] }
        guard case .failure(let error) = await client.result(of: GetRaw()) else {
            Issue.record("it succeeded")
            return
        }
        #expect(error == .invalidBody)
        #expect(!error.isRefusal)
        #expect(error.statusCode == 503)
        await client.shutdown(.cancel)
    }
}
