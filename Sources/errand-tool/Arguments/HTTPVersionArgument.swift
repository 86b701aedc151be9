import ArgumentParser
import Errand

/// The value of `--http-version`.
enum HTTPVersionArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case automatic
    case one = "1.1"
    case two = "2"
    case twoPriorKnowledge = "2-prior-knowledge"

    var policy: ConnectionOptions.HTTPVersionPolicy {
        switch self {
        case .automatic: .automatic
        case .one: .http1
        case .two: .http2OverTLS
        case .twoPriorKnowledge: .http2PriorKnowledge
        }
    }
}
