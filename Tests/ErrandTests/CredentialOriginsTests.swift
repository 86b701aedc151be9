import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient

/// To whom the credential of an interceptor is shown.
@Suite struct CredentialOriginsTests {
    private struct Ask: Command {
        var path: String
        var baseURL: String?
        var usesCDN = false
    }

    private func credential(
        of ask: Ask, _ origins: CredentialOrigins?, base: String? = "http://test/"
    ) async throws -> String? {
        let stub = StubTransport { _ in .response(status: 200) }
        let authenticator = TestAuthenticator()
        let client = Client.stubbed(stub) {
            $0.baseURL = base
            $0.cdnURL = base == nil ? nil : "http://cdn/c"
            $0.interceptors = [
                origins.map { AuthenticationInterceptor(authenticator, credential: "t0", origins: $0) }
                    ?? AuthenticationInterceptor(authenticator, credential: "t0")
            ]
        }
        let result = await client.result(of: ask)
        await client.shutdown()
        _ = try result.get()
        return stub.submitted.first?.headers[.authorization]
    }

    private static let table: [(Ask, isOwn: Bool)] = [
        (Ask(path: "x"), true), (Ask(path: "/x"), true), (Ask(path: "http://TEST:80/x"), true),
        (Ask(path: "x", usesCDN: true), true), (Ask(path: "http://cdn/x"), true),
        (Ask(path: "x", baseURL: "http://own/"), true),
        (Ask(path: "http://other/x"), false), (Ask(path: "//other/x"), false), (Ask(path: "https://test/x"), false),
        (Ask(path: "http://test:81/x"), false), (Ask(path: "http://test@other/x"), false),
        (Ask(path: "http://test.other/x"), false), (Ask(path: "http://test%2Eother/x"), false),
    ]

    /// As ``Client/Settings/authorization``.
    @Test(arguments: table.indices)
    func theClientsByDefault(row: Int) async throws {
        let (ask, isOwn) = Self.table[row]
        #expect(try await credential(of: ask, nil) == (isOwn ? "t0" : nil), "\(ask)")
        #expect(try await credential(of: ask, .client) == (isOwn ? "t0" : nil), "\(ask)")
        #expect(try await credential(of: ask, .any) == "t0", "\(ask)")
    }

    @Test func othersByName() async throws {
        let origins = CredentialOrigins.client(and: ["http://other/whatever", "https://test"])
        for path in ["x", "http://other/x", "http://OTHER:80/x", "https://test/x"] {
            #expect(try await credential(of: Ask(path: path), origins) == "t0", "\(path)")
        }
        for path in ["https://other/x", "http://third/x", "http://test:81/x"] {
            #expect(try await credential(of: Ask(path: path), origins) == nil, "\(path)")
        }
    }

    /// A client that names no server of its own has none that it could keep to.
    @Test func withoutABaseURLAll() async throws {
        #expect(try await credential(of: Ask(path: "http://other/x"), nil, base: nil) == "t0")
    }

    @Test(arguments: ["other", "", "//other", "http://", "http://a b/"])
    func whatIsNoOriginIsToldToEveryRequest(name: String) async {
        await #expect(throws: ErrandError.invalidOption) {
            try await credential(of: Ask(path: "http://third/x"), .client(and: [name]))
        }
    }

    /// A refused request elsewhere is nobody's business: neither a refresh nor a replay.
    @Test func aRefusalElsewhereStands() async throws {
        let stub = StubTransport { _ in .response(status: 401) }
        let authenticator = TestAuthenticator()
        let client = Client.stubbed(stub) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "t0")]
        }
        guard case .failure(let error) = await client.result(of: Ask(path: "http://other/x")) else {
            Issue.record("it succeeded")
            return
        }
        #expect(error.statusCode == 401)
        #expect(stub.submitted.count == 1)
        #expect(authenticator.count == 0)
        await client.shutdown()
    }
}
