import HTTPTypes

/// The side that requires credentials.
enum ChallengeSide: Sendable, Hashable, CaseIterable {
    case server, proxy

    /// `nil` for statuses other than 401 and 407.
    init?(statusCode: Int) {
        switch statusCode {
        case 401: self = .server
        case 407: self = .proxy
        default: return nil
        }
    }

    /// The header field for the credentials.
    var field: HTTPField.Name {
        switch self {
        case .server: .authorization
        case .proxy: .proxyAuthorization
        }
    }
}
