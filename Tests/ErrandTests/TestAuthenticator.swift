import Errand
import HTTPTypes
import Synchronization

struct RefreshTrouble: Error, Equatable {
    var number: Int
}

/// Tokens `t1`, `t2`, ... in `Authorization`, or in another field.
final class TestAuthenticator: Authenticator {
    typealias Refresh = @Sendable (_ number: Int, String?, Response?) async throws -> String

    let field: HTTPField.Name
    let expired: Set<String>
    let host: String?
    private let refreshes = Atomic<Int>(0)
    private let refresh: Refresh

    init(
        field: HTTPField.Name = .authorization, host: String? = nil,
        expired: Set<String> = [],
        refresh: @escaping Refresh = { number, _, _ in "t\(number)" }
    ) {
        self.field = field
        self.host = host
        self.expired = expired
        self.refresh = refresh
    }

    var count: Int { refreshes.load(ordering: .relaxed) }

    func applies(to request: RequestDescription) -> Bool {
        host.map { request.url.contains($0) } ?? true
    }

    func apply(_ credential: String, to request: inout RequestDescription) throws {
        try request.headers.set(field, to: credential)
    }

    func isUsable(_ credential: String) -> Bool { !expired.contains(credential) }

    func refresh(_ credential: String?, after response: Response?) async throws -> String {
        try await refresh(refreshes.add(1, ordering: .relaxed).newValue, credential, response)
    }

    func refuses(_ response: Errand.Response) -> Bool { response.statusCode == 401 }
}

extension AuthenticationInterceptor where A == TestAuthenticator {
    /// A refresh may take an hour. Within the default of 60 seconds the tasks of a test may not all get their turns.
    convenience init(patient authenticator: TestAuthenticator, credential: String? = nil) {
        self.init(authenticator, credential: credential, refreshTimeout: .seconds(3600))
    }
}
