/// How the requests of a load test ended. The counts add up: ``due`` is the sum of the others.
public struct LoadCounts: Sendable, Hashable, Codable {
    /// A complete response came, whatever its status.
    public var answered: UInt64 = 0
    /// The request ended with an error that is not a timeout: a refused or lost connection, for example.
    public var failed: UInt64 = 0
    /// A timeout of the request expired.
    public var timedOut: UInt64 = 0
    /// The request was sent and had no response when the run was over, after the grace period.
    public var unfinished: UInt64 = 0
    /// The request was due and could not be sent before the run was over, because the generator was the limit.
    public var neverSent: UInt64 = 0

    /// All requests that the plan made due in the measured part.
    public var due: UInt64 { answered + failed + timedOut + unfinished + neverSent }
    /// The requests without a response: all but the answered ones.
    public var unanswered: UInt64 { due - answered }

    /// No requests.
    public init() {}

    /// Adds the counts of another part.
    public static func += (left: inout LoadCounts, right: LoadCounts) {
        left.answered += right.answered
        left.failed += right.failed
        left.timedOut += right.timedOut
        left.unfinished += right.unfinished
        left.neverSent += right.neverSent
    }
}
