/// When the attempts of a call follow each other: the client's rules, which its calls share, or those of a command.
final class CallRules: Sendable {
    let retry: RetryPolicy
    /// Whether no part applies to the call.
    let isExempt: Bool
    /// Statuses below it are not retried. This saves a look into the set for most responses: hashing a number costs as
    /// much as two locks.
    private let lowestRetriedStatus: Int

    init(_ retry: RetryPolicy, isExempt: Bool = false) {
        self.retry = retry
        self.isExempt = isExempt
        lowestRetriedStatus = retry.statusCodes.min() ?? .max
    }

    /// Whether a response with this status may be followed by another attempt.
    func retries(_ status: Int) -> Bool {
        status >= lowestRetriedStatus && retry.statusCodes.contains(status)
    }
}
