/// The instant at which a call must have ended: all its attempts, hedges, waits and redirects.
///
/// A deadline is an instant of the monotonic clock, so waits and queues count, and changes of the wall clock do not.
/// The deadline of a task reaches the calls that the task makes through ``current``. A request carries the remaining
/// time to the next service (``DeadlineHeader``), so the clocks of other machines do not matter (gRPC deadline; Finagle
/// `Deadline` sends an absolute time instead).
///
/// A client obeys the deadline only with ``Client/Configuration/resilience``, which may be an empty `Resilience()`, or
/// with ``Client/Configuration/obeysDeadlines``. Requests of other clients do not see it.
///
/// All members may be used on any thread.
public struct Deadline: Sendable, Hashable, Comparable {
    /// The instant.
    public let instant: ContinuousClock.Instant

    /// A deadline at an instant.
    public init(at instant: ContinuousClock.Instant) {
        self.instant = instant
    }

    /// A deadline after a time. Zero and negative times give a deadline that has passed; the longest time is about 68
    /// years.
    public static func after(_ time: Duration, from now: ContinuousClock.Instant = .now) -> Deadline {
        Deadline(at: now.advanced(by: time.clampedWait))
    }

    /// The time that is left; zero where the deadline has passed.
    public func remaining(at now: ContinuousClock.Instant = .now) -> Duration {
        now.duration(to: instant).clampedWait
    }

    /// Whether the deadline has passed.
    public func hasPassed(at now: ContinuousClock.Instant = .now) -> Bool {
        instant <= now
    }

    /// The earlier one of the two deadlines; `nil` means no deadline.
    public func earlier(_ other: Deadline?) -> Deadline {
        other.map { min(self, $0) } ?? self
    }

    /// Orders earlier deadlines first.
    public static func < (left: Deadline, right: Deadline) -> Bool {
        left.instant < right.instant
    }

    /// The deadline as a reading of another clock, which shows `reading` now.
    package func reading(of reading: Duration, at now: ContinuousClock.Instant = .now) -> Duration {
        reading.clampedTime + remaining(at: now)
    }

    /// The deadline of the current task; `nil`: none. ``limit(to:operation:)`` sets it.
    @TaskLocal public static var current: Deadline?

    /// Runs an operation whose calls must end by a deadline. If the task has a deadline already, the earlier one
    /// applies: a callee cannot extend the time of its caller. Clients without ``Client/Configuration/resilience`` and
    /// without ``Client/Configuration/obeysDeadlines`` ignore the deadline.
    public static func limit<Result>(to deadline: Deadline, operation: () throws -> Result) rethrows -> Result {
        try $current.withValue(deadline.earlier(current), operation: operation)
    }

    /// Runs an asynchronous operation whose calls must end by a deadline, by the same rules as for synchronous
    /// operations. The operation itself is not cancelled.
    public static func limit<Result>(
        to deadline: Deadline, isolation: isolated (any Actor)? = #isolation, operation: () async throws -> Result
    ) async rethrows -> Result {
        try await $current.withValue(deadline.earlier(current), operation: operation, isolation: isolation)
    }
}
