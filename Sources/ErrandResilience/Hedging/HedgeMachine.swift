/// One hedged call: which attempts are under way, when the next one leaves, and which of them is the call's answer.
///
/// The shell sends attempts, waits and asks the budgets; the machine says when. Attempts are numbered from 1. Times are
/// readings of one monotonic clock. The page docs/resilience.md has every event in every state.
package struct HedgeMachine: Sendable {
    package enum State: Sendable, Hashable {
        case idle
        case running(Run)
        case ended
    }

    package struct Run: Sendable, Hashable {
        /// The number of the last attempt, which may wait for a limit.
        package var sent = 1
        /// The attempts under way, in their order.
        package var open = [1]
        package var next: Next
        /// The attempt that failed last.
        package var lastFailed: Int?
    }

    /// The next hedge.
    package enum Next: Sendable, Hashable {
        /// The last attempt waits for a limit of the client. The delay begins only when that attempt is sent, because a
        /// hedge would wait behind it.
        case unsent
        /// Leaves at this time.
        case at(Duration)
        /// The budgets are being asked.
        case asking
        /// There is none.
        case never(HedgeStop)
    }

    /// What a failed attempt says about further ones.
    package enum Pushback: Sendable, Hashable {
        case none
        /// Not before this wait (gRPC `grpc-retry-pushback-ms`, `Retry-After`).
        case wait(Duration)
        /// Not at all.
        case stop
    }

    package enum Action: Sendable, Hashable {
        /// Send this attempt, and report ``attemptSent(_:now:)`` when it leaves the client. Forget the former time.
        case send(attempt: Int)
        /// Report ``delayElapsed(now:)`` at this time, and forget the former one. `nil`: wait only for attempts.
        case wait(until: Duration?)
        /// Ask the budgets for a token, then report ``budgetAnswered(granted:now:)``.
        case askBudget
        /// This attempt's answer or error is that of the call. Cancel the others, and record them as losers.
        case deliver(attempt: Int, cancelling: [Int])
        /// Cancel these attempts. The caller gets the cancellation.
        case cancel([Int])
        /// The event came too late, or too early.
        case none
    }

    private let delay: Duration?
    private let maxAttempts: Int
    private let deadline: Duration?
    private let refusal: HedgeStop?
    package private(set) var state = State.idle

    /// - Parameters:
    ///   - delay: the wait before each hedge, of ``HedgeTracker/delay``.
    ///   - isRepeatable: the request may be sent twice, and so can its body.
    ///   - deadline: when the call must have ended; `nil`: never.
    package init(_ policy: HedgePolicy, delay: Duration?, isRepeatable: Bool, deadline: Duration? = nil) {
        self.delay = delay.map { max($0.clampedWait, HedgePolicy.shortestDelay) }
        self.deadline = deadline?.clampedTime
        maxAttempts = 1 + policy.maxExtra
        refusal = isRepeatable ? (delay == nil || policy.maxExtra == 0 ? .noDelay : nil) : .notRepeatable
    }

    /// Why no further hedge is sent; `nil`: another one may be.
    package var stop: HedgeStop? {
        guard case .running(let run) = state, case .never(let reason) = run.next else { return nil }
        return reason
    }

    /// Whether the budgets are being asked.
    package var isAsking: Bool {
        if case .running(let run) = state { run.next == .asking } else { false }
    }

    /// Whether the attempt is under way.
    package func isOpen(_ attempt: Int) -> Bool {
        if case .running(let run) = state { run.open.contains(attempt) } else { false }
    }

    /// The call begins. Its first attempt needs no token.
    package mutating func started() -> Action {
        guard case .idle = state else { return .none }
        var run = Run(next: .unsent)
        schedule(&run)
        state = .running(run)
        return .send(attempt: 1)
    }

    /// An attempt leaves the client, after its waits for the limits.
    package mutating func attemptSent(_ attempt: Int, now: Duration) -> Action {
        guard case .running(var run) = state, run.next == .unsent, attempt == run.sent else { return .none }
        let due = now.clampedTime + (delay ?? .zero)
        run.next = isBeforeDeadline(due) ? .at(due) : .never(.deadlineTooClose)
        state = .running(run)
        return .wait(until: run.due)
    }

    /// The time of the next hedge has come. An early timer waits again.
    package mutating func delayElapsed(now: Duration) -> Action {
        guard case .running(var run) = state, case .at(let due) = run.next else { return .none }
        guard now >= due else { return .wait(until: due) }
        return ask(&run, now.clampedTime)
    }

    /// The budgets gave a token, or one of them has none.
    package mutating func budgetAnswered(granted: Bool, now: Duration) -> Action {
        guard case .running(var run) = state, run.next == .asking else { return .none }
        if granted, deadline.map({ now < $0 }) ?? true {
            run.sent += 1
            run.open.append(run.sent)
            schedule(&run)
            state = .running(run)
            return .send(attempt: run.sent)
        }
        run.next = .never(granted ? .deadlineTooClose : .budgetExhausted)
        state = .running(run)
        return settle(run)
    }

    /// An attempt failed.
    ///
    /// - Parameter isFatal: a hedge would fail in the same way, so this failure is the result of the call.
    package mutating func attemptFailed(
        _ attempt: Int, isFatal: Bool, pushback: Pushback = .none, now: Duration
    ) -> Action {
        guard case .running(var run) = state, let index = run.open.firstIndex(of: attempt) else { return .none }
        run.open.remove(at: index)
        run.lastFailed = attempt
        if isFatal { return deliver(attempt, run) }
        state = .running(run)
        let now = now.clampedTime
        switch (run.next, pushback) {
        case (.never, _):
            return settle(run)
        case (_, .stop):
            run.next = .never(.pushedBack)
            state = .running(run)
            return settle(run)
        case (.asking, .none):
            // The answer of the budgets decides.
            return .none
        case (.at, .wait(let wait)), (.asking, .wait(let wait)), (.unsent, .wait(let wait)):
            // An answer of the budgets then comes too late, and the budgets are asked again.
            let due = now + wait.clampedWait
            run.next = isBeforeDeadline(due) ? .at(due) : .never(.deadlineTooClose)
            state = .running(run)
            return settle(run)
        case (.at, .none):
            // A failure makes room: the next hedge leaves at once (gRPC A6).
            return ask(&run, now)
        case (.unsent, .none):
            // The hedge that waits for a limit takes the room.
            return attempt == run.sent ? ask(&run, now) : settle(run)
        }
    }

    /// An attempt has a good answer.
    package mutating func attemptSucceeded(_ attempt: Int) -> Action {
        guard case .running(var run) = state, let index = run.open.firstIndex(of: attempt) else { return .none }
        run.open.remove(at: index)
        return deliver(attempt, run)
    }

    /// The caller stopped the call.
    package mutating func cancelled() -> Action {
        switch state {
        case .idle:
            state = .ended
            return .cancel([])
        case .running(let run):
            state = .ended
            return .cancel(run.open)
        case .ended:
            return .none
        }
    }

    private mutating func deliver(_ attempt: Int, _ run: Run) -> Action {
        state = .ended
        return .deliver(attempt: attempt, cancelling: run.open)
    }

    private mutating func ask(_ run: inout Run, _ now: Duration) -> Action {
        guard isBeforeDeadline(now) else {
            run.next = .never(.deadlineTooClose)
            state = .running(run)
            return settle(run)
        }
        run.next = .asking
        state = .running(run)
        return .askBudget
    }

    /// Waits for the attempts under way and for the next hedge. Without either, the last failure is that of the call.
    private mutating func settle(_ run: Run) -> Action {
        if run.open.isEmpty, case .never = run.next, let failed = run.lastFailed { return deliver(failed, run) }
        return .wait(until: run.due)
    }

    /// Decides about the next hedge after an attempt was handed over.
    private func schedule(_ run: inout Run) {
        if let refusal {
            run.next = .never(refusal)
        } else if run.sent >= maxAttempts {
            run.next = .never(.hedgesExhausted)
        } else {
            run.next = .unsent
        }
    }

    private func isBeforeDeadline(_ time: Duration) -> Bool {
        deadline.map { time < $0 } ?? true
    }
}

extension HedgeMachine.Run {
    /// When the next hedge leaves; `nil`: it does not wait for a time.
    var due: Duration? {
        if case .at(let time) = next { time } else { nil }
    }
}
