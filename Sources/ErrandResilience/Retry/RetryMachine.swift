package import HTTPTypes

/// The attempts of one call: which attempt follows which, and why no attempt follows the last one.
///
/// The shell makes attempts, waits and asks the budget; the machine says when. Times are readings of one monotonic
/// clock. The page docs/resilience.md has every event in every state.
package struct RetryMachine: Sendable {
    package enum State: Sendable, Hashable {
        case idle
        /// An attempt is under way.
        case sending(attempt: Int)
        /// The attempt failed, and the retry budget is being asked.
        case askingBudget(failed: Int, Retry)
        /// The wait before the next attempt.
        case waiting(next: Int, until: Duration, cause: RetryCause)
        case ended(RetryStop)
    }

    /// A retry that the policy allows.
    package struct Retry: Sendable, Hashable {
        package let cause: RetryCause
        package let wait: Duration
    }

    /// How an attempt ended.
    package enum Ending: Sendable {
        /// A whole answer, or its head. The fields matter only for statuses that the policy retries.
        case answer(status: Int, fields: HTTPFields)
        case failure(ErrandError)

        /// The ending of a transfer. Header fields are parsed only where they matter.
        package init(_ attempt: Attempt, _ policy: RetryPolicy) {
            if let error = attempt.error {
                self = .failure(error)
            } else if let response = attempt.response {
                let status = response.statusCode
                self = .answer(status: status, fields: policy.statusCodes.contains(status) ? response.headers : [:])
            } else {
                self = .failure(.internalFailure)
            }
        }

        /// `Retry-After` of the answer, or of the head that came before the failure.
        var retryAfter: Duration? {
            switch self {
            case .answer(_, let fields): fields.retryAfter
            case .failure(let error): error.response?.headers.retryAfter
            }
        }
    }

    package enum Action: Sendable, Hashable {
        /// Send this attempt. It gets the given time; `nil`: no limit.
        case send(attempt: Int, timeout: Duration?)
        /// Ask the retry budget for a token, then report ``budgetAnswered(granted:now:)``.
        case askBudget
        /// Wait until this time, then report ``waitElapsed(now:)``.
        case wait(until: Duration, cause: RetryCause)
        /// The last attempt's answer or error is that of the call.
        case stop(RetryStop)
        /// The event came too late, or too early.
        case none
    }

    private let policy: RetryPolicy
    private let subject: RetrySubject
    private let deadline: Duration?
    /// When the last retry may begin; `nil`: at any time. Set when the call begins.
    private var lastRetry: Duration?
    package private(set) var state = State.idle

    /// - Parameter deadline: when the call must have ended; `nil`: never.
    package init(_ policy: RetryPolicy, _ subject: RetrySubject, deadline: Duration? = nil) {
        self.policy = policy
        self.subject = subject
        self.deadline = deadline?.clampedTime
    }

    /// The call begins. The first attempt costs no token; it deposits.
    package mutating func started(now: Duration) -> Action {
        guard case .idle = state else { return .none }
        lastRetry = policy.maxRetryTime.map { now.clampedTime(plus: $0) }
        return send(1, now.clampedTime)
    }

    /// An attempt has ended.
    ///
    /// - Parameters:
    ///   - isDelivered: the caller has seen a part of the answer.
    ///   - bodyIsReplayable: the request's body can be sent again, or was not read.
    ///   - random: 0...1, for the wait.
    package mutating func attemptEnded(
        _ ending: Ending, isDelivered: Bool, bodyIsReplayable: Bool, now: Duration, random: Double
    ) -> Action {
        guard case .sending(let attempt) = state else { return .none }
        let cause: RetryCause
        switch policy.judge(ending) {
        case .stop(let reason): return stop(reason)
        case .retry(let found): cause = found
        }
        if isDelivered { return stop(.answerDelivered) }
        guard cause == .failure(.noConnection) || subject.isRepeatable else { return stop(.notIdempotent) }
        guard bodyIsReplayable else { return stop(.bodyNotReplayable) }
        guard attempt < policy.maxAttempts else { return stop(.attemptsExhausted) }
        var least = Duration.zero
        if let cap = policy.retryAfterCap, let asked = ending.retryAfter {
            guard asked <= cap else { return stop(.retryAfterTooLong) }
            least = asked
        }
        let wait = policy.backoff.wait(retry: attempt, atLeast: least, random: random)
        if let reason = reason(against: now.clampedTime + wait) { return stop(reason) }
        state = .askingBudget(failed: attempt, Retry(cause: cause, wait: wait))
        return .askBudget
    }

    /// The retry budget gave a token, or has none.
    package mutating func budgetAnswered(granted: Bool, now: Duration) -> Action {
        guard case .askingBudget(let failed, let retry) = state else { return .none }
        guard granted else { return stop(.budgetExhausted) }
        let until = now.clampedTime + retry.wait
        if let reason = reason(against: until) { return stop(reason) }
        state = .waiting(next: failed + 1, until: until, cause: retry.cause)
        return .wait(until: until, cause: retry.cause)
    }

    /// The time of the last ``Action/wait(until:cause:)`` has come. An early timer waits again.
    package mutating func waitElapsed(now: Duration) -> Action {
        guard case .waiting(let next, let until, let cause) = state else { return .none }
        guard now >= until else { return .wait(until: until, cause: cause) }
        return send(next, now.clampedTime)
    }

    /// The caller stopped the call.
    package mutating func cancelled() -> Action {
        if case .ended = state { return .none }
        return stop(.cancelled)
    }

    private mutating func send(_ attempt: Int, _ now: Duration) -> Action {
        guard isBeforeDeadline(now) else { return stop(.deadlineTooClose) }
        state = .sending(attempt: attempt)
        let remaining = deadline.map { $0 - now }
        return .send(attempt: attempt, timeout: [policy.attemptTimeout, remaining].compactMap(\.self).min())
    }

    /// The reason against a retry at that time.
    private func reason(against time: Duration) -> RetryStop? {
        guard isBeforeDeadline(time) else { return .deadlineTooClose }
        return lastRetry.map { time <= $0 } ?? true ? nil : .retryTimeOver
    }

    private func isBeforeDeadline(_ time: Duration) -> Bool {
        deadline.map { time < $0 } ?? true
    }

    private mutating func stop(_ reason: RetryStop) -> Action {
        state = .ended(reason)
        return .stop(reason)
    }
}
