import Errand
import HTTPTypes
import Synchronization

/// The tokens of a walk, which are numbers. Each new token makes those before it invalid.
final class ClientWalkTokens: Sendable {
    private static let scheme = "Bearer "

    private let issued = Atomic<Int>(0)
    /// The tokens up to this one are refused.
    private let revoked = Atomic<Int>(0)

    /// A new token.
    func issue() -> Int {
        let token = issued.add(1, ordering: .relaxed).newValue
        revoked.max(token - 1, ordering: .relaxed)
        return token
    }

    /// From now on the server refuses all tokens that there are.
    func revokeAll() {
        revoked.max(issued.load(ordering: .relaxed), ordering: .relaxed)
    }

    func isRevoked(_ token: Int) -> Bool { token <= revoked.load(ordering: .relaxed) }

    /// The token of a request; `nil`: it has none.
    static func token(of request: RequestDescription) -> Int? {
        request.headers[.authorization].flatMap { Int($0.dropFirst(scheme.count)) }
    }

    static func add(_ token: Int, to request: inout RequestDescription) throws {
        try request.headers.set(.authorization, to: "\(scheme)\(token)")
    }
}
