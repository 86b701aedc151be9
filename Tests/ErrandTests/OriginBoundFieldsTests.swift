import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// What an interceptor added for an origin stays with that origin.
@Suite struct OriginBoundFieldsTests {
    private static let tenant: HTTPField.Name = "x-tenant"
    private static let trace: HTTPField.Name = "traceparent"
    private static let own: HTTPField.Name = "x-own"

    private struct Ask: Command {
        var path = "start"
        var headers: HTTPFields { [.accept: "a", OriginBoundFieldsTests.own: "own"] }
        typealias Response = String
    }

    /// Adds a field, and alters one of the command's.
    private struct Tenant: StepwiseInterceptor {
        func prepare(_ request: RequestDescription, in context: InterceptionContext) throws -> RequestDescription {
            var request = request
            try request.headers.set(OriginBoundFieldsTests.tenant, to: "t")
            try request.headers.set(OriginBoundFieldsTests.trace, to: "00-1")
            if context.replays > 0 { try request.headers.set(OriginBoundFieldsTests.own, to: "altered") }
            return request
        }

        func replays(after result: TransferResult, in context: InterceptionContext) -> Bool {
            result.response?.statusCode == 503
        }

        func transform(_ response: Errand.Response, in context: InterceptionContext) -> Errand.Response { response }
    }

    /// `/start` leads to `location`.
    private func stub(_ location: String, first: Int? = nil) -> StubTransport {
        let isFirst = Atomic(true)
        return StubTransport { request in
            if let first, isFirst.exchange(false, ordering: .relaxed) { return .response(status: first) }
            if request.url.hasSuffix("/start") { return .response(status: 307, headers: [.location: location]) }
            return .response(status: 200, body: "end")
        }
    }

    @Test(arguments: [
        ("/x", true), ("http://TEST:80/x", true), ("http://other/x", false), ("http://test:81/x", false),
        ("https://test/x", false),
    ])
    func redirectsDropThemWhereTheyLeaveTheOrigin(location: String, isKept: Bool) async throws {
        let stub = stub(location)
        let client = Client.stubbed(stub) { $0.interceptors = [Tenant()] }
        #expect(try await client.run(Ask()) == "end")
        let last = try #require(stub.submitted.last)
        #expect(stub.submitted.count == 2)
        #expect((last.headers[Self.tenant] != nil) == isKept)
        #expect((last.headers[Self.trace] != nil) == isKept)
        #expect(last.headers[.accept] == "a")
        #expect(last.headers[Self.own] == "own")
        await client.shutdown()
    }

    /// A replay is prepared anew, and what it alters is bound too.
    @Test func replaysAreBoundByWhatTheyWerePreparedWith() async throws {
        let stub = stub("http://other/x", first: 503)
        let client = Client.stubbed(stub) { $0.interceptors = [Tenant()] }
        #expect(try await client.run(Ask()) == "end")
        #expect(stub.submitted.map { $0.headers[Self.own] } == ["own", "altered", nil])
        #expect(stub.submitted.map { $0.headers[Self.tenant] } == ["t", "t", nil])
        await client.shutdown()
    }

    /// An authenticator's credential, in a field that no list knows; it is not asked again for where the redirect leads.
    @Test(arguments: [CredentialOrigins.client, .any])
    func aCredentialStaysBehind(origins: CredentialOrigins) async throws {
        let stub = stub("http://other/x")
        let authenticator = TestAuthenticator(field: "x-session")
        let client = Client.stubbed(stub) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "t0", origins: origins)]
        }
        #expect(try await client.run(Ask()) == "end")
        #expect(stub.submitted.map { $0.headers["x-session"] } == ["t0", nil])
        await client.shutdown()
    }

    /// The policy's closure may let a field through by name; to repeat what was sent is not enough.
    @Test func thePolicyLetsThroughWhatItNames() async throws {
        let stub = stub("http://other/x")
        let client = Client.stubbed(stub) {
            $0.interceptors = [Tenant()]
            $0.redirects = .follow { hop in
                var next = hop.from
                next.url = hop.proposal.url
                next.originBoundFields.remove(Self.trace)
                return .follow(next)
            }
        }
        #expect(try await client.run(Ask()) == "end")
        #expect(stub.submitted.map { $0.headers[Self.trace] } == ["00-1", "00-1"])
        #expect(stub.submitted.map { $0.headers[Self.tenant] } == ["t", nil])
        await client.shutdown()
    }

    /// The program leads the request elsewhere, but what those outside have added was meant for the first origin. What
    /// the interceptor sets itself goes along.
    @Test(arguments: [
        ("http://other/x", false), ("http://test:81/x", false), ("https://test/x", false), ("http://TEST:80/x", true),
    ])
    func anInterceptorThatLeavesTheOriginDropsThem(url: String, isKept: Bool) async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "end") }
        let digest = Around { request, _, next in
            var request = request
            request.authentication = .digest(username: "ada", password: "secret")
            return try await next(request)
        }
        let elsewhere = Around { request, _, next in
            var request = request
            request.url = url
            try request.headers.set(OriginBoundFieldsTests.own, to: "new")
            return try await next(request)
        }
        let authentication: any Interceptor = AuthenticationInterceptor(TestAuthenticator(), credential: "t0")
        let client = Client.stubbed(stub) { $0.interceptors = [authentication, Tenant(), digest, elsewhere] }
        #expect(try await client.run(Ask()) == "end")
        let sent = try #require(stub.submitted.first)
        #expect(sent.url == url)
        #expect(sent.headers[.authorization] == (isKept ? "t0" : nil))
        #expect((sent.headers[Self.tenant] != nil) == isKept)
        #expect((sent.authentication != nil) == isKept)
        #expect(sent.headers[Self.own] == "new")
        #expect(sent.headers[.accept] == "a")
        await client.shutdown()
    }

    /// A description made anew does not know what is bound. A credential that is set for the new origin is sent.
    @Test func anInterceptorThatLeavesTheOriginMayBringACredential() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "end") }
        let elsewhere = Around { request, _, next in
            var request = RequestDescription(
                method: request.method, url: "http://other/x", headers: request.headers, body: request.body,
                options: request.options, settings: request.settings)
            try request.headers.set(.authorization, to: "other")
            return try await next(request)
        }
        let authentication: any Interceptor = AuthenticationInterceptor(TestAuthenticator(), credential: "t0")
        let client = Client.stubbed(stub) { $0.interceptors = [Tenant(), authentication, elsewhere] }
        #expect(try await client.run(Ask()) == "end")
        let sent = try #require(stub.submitted.first)
        #expect(sent.headers[.authorization] == "other")
        #expect(sent.headers[Self.tenant] == nil)
        await client.shutdown()
    }

    /// Returns a description of an earlier request, brought up to date.
    private struct Forgetful: PreparingInterceptor {
        func prepare(_ request: RequestDescription, in context: InterceptionContext) throws -> RequestDescription {
            RequestDescription(
                method: request.method, url: request.url, headers: request.headers, body: request.body,
                options: request.options, settings: request.settings)
        }
    }

    @Test func aDescriptionMadeAnewIsBoundAsTheFormerOne() async throws {
        let stub = stub("http://other/x")
        let client = Client.stubbed(stub) { $0.interceptors = [Tenant(), Forgetful()] }
        #expect(try await client.run(Ask()) == "end")
        #expect(stub.submitted.map { $0.headers[Self.tenant] } == ["t", nil])
        await client.shutdown()
    }
}
