/// An attempt of a request has failed, and the request is retried after a wait.
public struct TransferRetry: Sendable, Hashable {
    /// The number of the attempt that failed; 1 for the first one.
    public let attempt: Int
    /// Why the attempt failed, as text with few values, fit for a metric label: `status503`, `noConnection`.
    public let reason: String
    /// The time until the next attempt. A limit may delay the attempt further.
    public let wait: Duration

    /// Makes a value.
    public init(attempt: Int, reason: String, wait: Duration) {
        self.attempt = attempt
        self.reason = reason
        self.wait = wait
    }
}
