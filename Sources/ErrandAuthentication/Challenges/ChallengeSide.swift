import HTTPTypes

/// Who asks for credentials.
enum ChallengeSide: Sendable, Hashable, CaseIterable {
    case server, proxy

    /// `nil` for statuses that are no challenges.
    init?(statusCode: Int) {
        switch statusCode {
        case 401: self = .server
        case 407: self = .proxy
        default: return nil
        }
    }

    /// Where the credentials go.
    var field: HTTPField.Name {
        switch self {
        case .server: .authorization
        case .proxy: .proxyAuthorization
        }
    }
}
