/// Why a limit refused a request, before anything was sent.
public struct LimitRefusal: Error, Sendable, Hashable {
    /// The reason.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The limit of requests in flight is reached, and so is the limit of waiting requests.
        case queueFull
        /// The request waited, and a request of higher priority took the place in the full queue.
        case displaced
        /// The request waited until its deadline, or the longest wait, passed.
        case waitExpired
        /// A permit of the rate limit is not available within the time that the request may wait.
        case rateExceeded
        /// The server has asked for a pause that lasts longer than the request may wait.
        case pausedByServer
    }

    /// The reason.
    public let reason: Reason
    /// The key of the limit, such as an origin.
    public let key: String
    /// How long to wait until a request would be let through, as far as the limit knows; `nil`: unknown.
    public let retryAfter: Duration?

    /// Makes a refusal.
    public init(_ reason: Reason, key: String, retryAfter: Duration? = nil) {
        self.reason = reason
        self.key = key
        self.retryAfter = retryAfter
    }
}

extension LimitRefusal: CustomStringConvertible {
    /// `rateExceeded for https://api.test:443, retry after 0.5 seconds`.
    public var description: String {
        "\(reason.rawValue) for \(key)" + (retryAfter.map { ", retry after \($0.secondsText)" } ?? "")
    }
}
