import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel
@testable import ErrandResilience

/// ``Client/Configuration/hsts`` over a stub: which URLs are sent, and which responses teach.
@Suite struct HSTSClientTests {
    private struct Ask: Command {
        var path: String
        var connection: ConnectionOptions?
        var customRequest: CustomRequest?
        typealias Response = Errand.Response
    }

    private struct Rewrite: PreparingInterceptor {
        let url: String

        func prepare(
            _ request: RequestDescription, in context: InterceptionContext
        ) async throws -> RequestDescription {
            var request = request
            request.url = url
            return request
        }
    }

    private static let field = "max-age=31536000; includeSubDomains"

    private func store(_ hosts: String...) -> HSTSStore {
        HSTSStore(preloads: hosts.map { .init($0) })
    }

    private func client(
        _ stub: StubTransport, _ store: HSTSStore, _ change: (inout Client.Configuration) -> Void = { _ in }
    ) -> Client {
        Client.stubbed(stub) {
            $0.hsts = store
            change(&$0)
        }
    }

    /// Answers each URL once with what the table has for it, and with 200 otherwise.
    private func stub(_ table: [String: HTTPFields] = [:]) -> StubTransport {
        StubTransport { description in
            guard let fields = table[description.url] else { return .response(status: 200) }
            return .response(status: fields[.location] == nil ? 200 : 302, headers: fields)
        }
    }

    @Test func theConfiguration() {
        var configuration = Client.Configuration()
        #expect(configuration.hsts == nil && configuration.layers.isEmpty)
        let store = HSTSStore()
        configuration.resilience = Resilience()
        configuration.hsts = store
        #expect(configuration.hsts === store)
        // Innermost, so that the client's resilience is found, and each attempt passes.
        #expect(configuration.layers.sorted { $0.position < $1.position }.map { $0 is HSTSLayer } == [true, false])
        #expect(configuration.resilience != nil)
        configuration.hsts = HSTSStore()
        #expect(configuration.layers.count == 2)
        configuration.hsts = nil
        #expect(configuration.layers.count == 1 && configuration.urlUpgrade == nil)
    }

    @Test(arguments: [
        ("x?q=1", "https://test/x?q=1"), ("http://a.free/", "http://a.free/"), ("http://TEST:80/", "https://TEST:443/"),
        ("http://sub.test:8080/y", "https://sub.test:8080/y"), ("https://test/", "https://test/"),
        ("http://%74est/", "https://%74est/"), ("http://bücher.strict/", "https://bücher.strict/"),
    ])
    func theURLOfACommand(path: String, expected: String) throws {
        let store = store("test", "xn--bcher-kva.strict")
        let client = client(stub(), store)
        // A host is written as the builder writes it without HSTS.
        let plain = try Client.stubbed(stub()).describe(Ask(path: path)).url
        let expected =
            expected.contains("ü") ? plain.replacing("http:", with: "https:", maxReplacements: 1) : expected
        #expect(try client.describe(Ask(path: path)).url == expected)
    }

    @Test func theURLOfACustomRequest() throws {
        let ask = Ask(path: "x", customRequest: CustomRequest(url: "http://test/raw"))
        #expect(try client(stub(), store("test")).describe(ask).url == "https://test/raw")
    }

    /// The client's own origin is still its own, and what requires TLS has it.
    @Test func credentialsAndRequiredTLS() throws {
        let strict = client(stub(), store("test", "other")) {
            $0.authorization = .bearer("secret")
            $0.tlsPolicies["test"] = .init(requiresTLS: true)
        }
        let description = try strict.describe(Ask(path: "x"))
        #expect(description.url == "https://test/x")
        #expect(description.headers[.authorization] == "Bearer secret")
        #expect(try strict.describe(Ask(path: "http://other/")).headers[.authorization] == nil)
        #expect(try strict.describe(Ask(path: "https://test:444/")).headers[.authorization] == nil)
        let lax = client(stub(), store()) { $0.tlsPolicies["test"] = .init(requiresTLS: true) }
        #expect(throws: ErrandError.unsupportedScheme) { try lax.describe(Ask(path: "x")) }
        // After a change of the settings too.
        strict.reconfigure { $0.baseURL = "http://test/v2/" }
        let changed = try strict.describe(Ask(path: "x"))
        #expect(changed.url == "https://test/v2/x" && changed.headers[.authorization] == "Bearer secret")
    }

    /// The interceptor that sends credentials knows the origin, too.
    @Test func anAuthenticator() async throws {
        let stub = stub()
        let client = client(stub, store("test")) {
            $0.interceptors = [AuthenticationInterceptor(TestAuthenticator(), credential: "t0")]
        }
        _ = try await client.run(Ask(path: "x"))
        let sent = try #require(stub.submitted.first)
        #expect(sent.url == "https://test/x" && sent.headers[.authorization] != nil)
    }

    @Test func responsesTeach() async throws {
        let stub = stub(["https://test/learn": [.strictTransportSecurity: Self.field]])
        let store = store()
        let client = client(stub, store)
        for path in ["x", "https://test/learn", "x", "http://sub.test/"] { _ = try await client.run(Ask(path: path)) }
        #expect(
            stub.submitted.map(\.url)
                == ["http://test/x", "https://test/learn", "https://test/x", "https://sub.test/"])
        #expect(store.count == 1)
    }

    /// A response in clear text, one behind TLS that checks nothing, and one of an address.
    @Test func whatTeachesNothing() async throws {
        let fields: HTTPFields = [.strictTransportSecurity: Self.field]
        let stub = stub(["http://test/": fields, "https://test/": fields, "https://127.0.0.1/": fields])
        let store = store()
        let lax = ConnectionOptions.TLS(insecureAcceptAnyCertificate: true)
        let laxer = ConnectionOptions.TLS(insecureAcceptAnyHostName: true)
        let client = client(stub, store)
        _ = try await client.run(Ask(path: "http://test/"))
        _ = try await client.run(Ask(path: "https://127.0.0.1/"))
        for tls in [lax, laxer] {
            _ = try await client.run(Ask(path: "https://test/", connection: ConnectionOptions(tls: tls)))
        }
        let careless = self.client(stub, store) { $0.connection.tls = lax }
        _ = try await careless.run(Ask(path: "https://test/"))
        #expect(store.count == 0)
        // One command of that client checks.
        let checked = ConnectionOptions(tls: .init(insecureAcceptAnyCertificate: false))
        _ = try await careless.run(Ask(path: "https://test/", connection: checked))
        #expect(store.count == 1)
    }

    /// An incomplete response teaches, a failure without one does not.
    @Test func failures() async throws {
        let head = Response(statusCode: 200, headers: [.strictTransportSecurity: Self.field])
        let stub = StubTransport { description in
            .failure(
                description.url.hasSuffix("cut") ? ErrandError.partialBody.with(response: head) : .connectFailed)
        }
        let store = store()
        let client = client(stub, store)
        await #expect(throws: ErrandError.connectFailed) { try await client.run(Ask(path: "https://test/")) }
        #expect(store.count == 0)
        await #expect(throws: ErrandError.partialBody) { try await client.run(Ask(path: "https://test/cut")) }
        #expect(store.isKnown("test"))
    }

    /// The response that redirects teaches first. The hop to http is no downgrade, and stays in the origin.
    @Test func redirects() async throws {
        let stub = stub([
            "https://test/": [.strictTransportSecurity: Self.field, .location: "http://test:443/next"],
            "https://test:443/next": [.location: "http://sub.test/end"],
        ])
        let client = client(stub, store()) {
            $0.baseURL = "https://test/"
            $0.authorization = .bearer("secret")
        }
        let response = try await client.run(Ask(path: "/"))
        #expect(response.statusCode == 200)
        #expect(
            stub.submitted.map(\.url) == ["https://test/", "https://test:443/next", "https://sub.test/end"])
        #expect(stub.submitted.map { $0.headers[.authorization] != nil } == [true, true, false])
    }

    @Test func aRedirectToAnUnknownHostIsRefusedAsBefore() async throws {
        let stub = stub(["https://test/": [.location: "http://elsewhere/"]])
        let client = client(stub, store("test"))
        await #expect(throws: ErrandError.redirectRefused) { try await client.run(Ask(path: "/")) }
    }

    /// The policy sees the upgraded URL, and another URL of its own is upgraded.
    @Test func aRedirectPolicy() async throws {
        let seen = Notes<String>()
        let stub = stub(["https://test/": [.location: "http://test/next"]])
        let client = client(stub, store("test", "other")) {
            $0.redirects = RedirectPolicy(limit: 3) { hop in
                seen.add(hop.proposal.url)
                var next = hop.proposal
                next.url = "http://other/"
                return .follow(next)
            }
        }
        _ = try await client.run(Ask(path: "/"))
        #expect(seen.all == ["https://test/next"])
        #expect(stub.submitted.map(\.url) == ["https://test/", "https://other/"])
    }

    @Test func aURLOfAnInterceptor() async throws {
        let stub = stub()
        let client = client(stub, store("other")) { $0.interceptors = [Rewrite(url: "http://other/x")] }
        _ = try await client.run(Ask(path: "/"))
        #expect(stub.submitted.map(\.url) == ["https://other/x"])
    }

    /// A host that became known after the request was described.
    @Test func theTransport() throws {
        let stub = StubTransport(delivery: .immediate) { _ in .hold }
        let store = store("late")
        let transport = HSTSTransport(stub, store, connection: ConnectionOptions())
        let receiver = CallReceiver(callbacks: .inline())
        let description = try RequestBuilder(Client.Configuration()).description(of: RawCommand(url: "http://late/"))
        let id = try transport.submit(description, for: receiver)
        #expect(stub.submitted.map(\.url) == ["https://late/"] && stub.open == [id])
        transport.cancel(id)
        #expect(receiver.events.all == ["cancelled"])
    }

    /// The head of a stream teaches before its body has come.
    @Test func streams() async throws {
        let stub = stub(["https://test/": [.strictTransportSecurity: Self.field]])
        let store = store()
        let client = client(stub, store) { $0.resilience = Resilience() }
        let streamed = try await client.stream(Ask(path: "https://test/"))
        #expect(store.isKnown("test"))
        for try await _ in streamed.body {}
        #expect(client.resilience?.counts.attempts == 1)
    }
}
