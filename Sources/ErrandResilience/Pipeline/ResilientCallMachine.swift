import HTTPTypes

/// One transfer of a client with ``Resilience``: its attempts one after the other, and its single end.
///
/// The retry decisions are those of ``RetryMachine``. This machine adds what a transport needs: the control of the
/// present attempt (cancel, pause, an id that is not known yet), the head of a response that is held back until the
/// decision, and the result that stands where a further attempt cannot be sent. The page docs/resilience.md has every
/// event in every state.
package struct ResilientCallMachine: Sendable {
    /// How the call ends.
    package struct Outcome: Sendable {
        /// A head that was held back; the caller gets it before the result.
        package var head: Response?
        package var result: TransferResult
    }

    /// What remains of the attempt before the present one.
    enum Last: Sendable {
        case outcome(Outcome)
        /// The head of a streamed response that was not read further.
        case rejected(Response)
    }

    /// How far the response of an attempt has come.
    enum Head: Sendable {
        case awaited
        /// Buffered: the head is delivered with the end, if no attempt follows.
        case held(Response)
        /// Streamed: the retry budget is being asked.
        case judging(Response)
        case passed
        /// Streamed: another attempt follows as soon as this one has ended.
        case rejected(Response)
    }

    struct Sending: Sendable {
        let attempt: Int
        var control: TransferControl
        var head = Head.awaited
        let last: Last?
    }

    enum State: Sendable {
        case idle
        /// An attempt waits for the breaker and the limits.
        case admitting(attempt: Int, last: Last?)
        /// The transport beneath has the attempt.
        case sending(Sending)
        /// The attempt has ended, and the retry budget is being asked.
        case judging(Outcome)
        /// The wait before the next attempt.
        case waiting(Last)
        case over
    }

    package enum Action: Sendable {
        case none
        /// Hand the event to the caller.
        case pass
        /// Ask the breaker and the limits, then send the attempt.
        case admit(attempt: Int)
        /// Ask the retry budget, then report ``budgetAnswered(granted:now:)``.
        case askBudget
        /// Wait until this time, then report ``waitElapsed(now:)``.
        case wait(until: Duration, TransferRetry?)
        /// Cancel the attempt, whose response is not wanted. The wait begins when the attempt has ended.
        case reject(TransferControl.Order, TransferRetry)
        /// Hand over the head that was held back.
        case passHead(Response)
        case order(TransferControl.Order)
        case end(Outcome)
    }

    package struct Decision: Sendable {
        package let action: Action
        /// Whether a token of the retry budget was not used.
        package var givesBackToken = false
        /// Why no retry follows the attempt, which the policy would retry.
        package var stop: RetryStop?
    }

    private let policy: RetryPolicy
    private let isStreamed: Bool
    private let bodyIsReplayable: Bool
    private var retry: RetryMachine
    private(set) var state = State.idle
    private var isPaused = false
    /// The budget gave a token for an attempt that was not sent yet.
    private var hasToken = false
    /// Whether the server may have seen an attempt that has ended.
    private var wasSent = false

    package init(
        _ policy: RetryPolicy, _ subject: RetrySubject, deadline: Duration?, isStreamed: Bool, bodyIsReplayable: Bool
    ) {
        self.policy = policy
        self.isStreamed = isStreamed
        self.bodyIsReplayable = bodyIsReplayable
        retry = RetryMachine(policy, subject, deadline: deadline)
    }

    package var isOver: Bool {
        if case .over = state { true } else { false }
    }

    /// Whether a task that waits, for a limit or for the next attempt, is still wanted.
    package var isIdle: Bool {
        switch state {
        case .admitting, .waiting: true
        case .idle, .sending, .judging, .over: false
        }
    }

    /// The id of the present attempt, once it is known.
    package var attemptID: TransferID? {
        if case .sending(let sending) = state { sending.control.id } else { nil }
    }

    /// Whether events before the end belong to the caller. `isBody`: a part of a streamed body.
    package func passes(isBody: Bool) -> Bool {
        guard case .sending(let sending) = state else { return false }
        // Later events of the cancelled attempt would come after the news of its retry.
        if case .rejected = sending.head { return false }
        guard isBody else { return true }
        if case .passed = sending.head { return true }
        return false
    }

    // MARK: The call

    /// The call begins. It ends with ``ErrandError/deadlineExceeded`` where its deadline has passed.
    package mutating func started(now: Duration) -> Decision {
        guard case .idle = state else { return Decision(action: .none) }
        return proceed(retry.started(now: now), last: nil)
    }

    /// The caller wants no result any more.
    package mutating func cancelRequested() -> Decision {
        if case .sending(var sending) = state {
            _ = retry.cancelled()
            defer { state = .sending(sending) }
            return Decision(action: .order(sending.control.cancel()))
        }
        return stop()
    }

    /// The transport is shut down. The transport beneath ends the attempt that it has; no other one follows.
    package mutating func transportStops() -> Decision {
        if case .sending = state {
            _ = retry.cancelled()
            return Decision(action: .none)
        }
        return stop()
    }

    package mutating func setPaused(_ isPaused: Bool) -> Decision {
        self.isPaused = isPaused
        return control { $0.setPaused(isPaused) }
    }

    private mutating func stop() -> Decision {
        switch state {
        case .admitting, .judging, .waiting: end(Outcome(result: .failure(.cancelled)))
        case .idle, .sending, .over: Decision(action: .none)
        }
    }

    // MARK: The attempt

    /// The breaker and the limits let the attempt pass. `false`: the attempt is not wanted any more.
    package mutating func willSubmit(_ attempt: Int) -> Bool {
        guard case .admitting(attempt, let last) = state else { return false }
        state = .sending(Sending(attempt: attempt, control: TransferControl(isPaused: isPaused), last: last))
        return true
    }

    /// The breaker, a limit or the transport beneath refused the attempt. The result of the attempt before stands.
    package mutating func refused(_ error: ErrandError, attempt: Int) -> Decision {
        let last: Last?
        switch state {
        case .admitting(attempt, let former): last = former
        case .sending(let sending) where sending.attempt == attempt:
            if sending.control.isCancelled { return end(Outcome(result: .failure(.cancelled))) }
            last = sending.last
        case .idle, .admitting, .sending, .judging, .waiting, .over: return Decision(action: .none)
        }
        return end(last, because: error)
    }

    /// The transport beneath has accepted the attempt, which may have ended meanwhile.
    package mutating func opened(_ id: TransferID, attempt: Int) -> Decision {
        guard case .sending(let sending) = state, sending.attempt == attempt else { return Decision(action: .none) }
        // With a rejected head the token belongs to the next attempt.
        if case .rejected = sending.head {} else { hasToken = false }
        return control { $0.opened(id) }
    }

    /// An order was carried out. The order that undoes it follows, if the opposite was asked for meanwhile.
    package mutating func performed(_ order: TransferControl.Order) -> Decision {
        control { $0.performed(order) }
    }

    private mutating func control(_ body: (inout TransferControl) -> TransferControl.Order) -> Decision {
        guard case .sending(var sending) = state else { return Decision(action: .none) }
        defer { state = .sending(sending) }
        return Decision(action: .order(body(&sending.control)))
    }

    /// The head of a response arrived. `random`: 0...1, for the wait.
    package mutating func headReceived(_ head: Response, now: Duration, random: Double) -> Decision {
        guard case .sending(var sending) = state, case .awaited = sending.head else { return Decision(action: .none) }
        defer { state = .sending(sending) }
        guard policy.statusCodes.contains(head.statusCode), !sending.control.isCancelled else {
            sending.head = .passed
            return Decision(action: .pass)
        }
        guard isStreamed else {
            sending.head = .held(head)
            return Decision(action: .none)
        }
        hasToken = false
        let action = retry.attemptEnded(
            .answer(status: head.statusCode, fields: head.headers), isDelivered: false,
            bodyIsReplayable: bodyIsReplayable, now: now, random: random)
        guard action == .askBudget else {
            sending.head = .passed
            return Decision(action: .pass, stop: stop(action))
        }
        sending.head = .judging(head)
        return Decision(action: .askBudget)
    }

    /// The attempt has ended. `random`: 0...1, for the wait.
    package mutating func attemptEnded(_ result: TransferResult, now: Duration, random: Double) -> Decision {
        guard case .sending(let sending) = state else { return Decision(action: .none) }
        var outcome = Outcome(result: result)
        if sending.attempt > 1, case .failure(let error) = result, error.isRefusal || wasSent && error.isUnsent {
            // The attempts before were not refused, and the server may have seen one.
            outcome.result = .failure(error.with(isRefusal: false, followsSends: wasSent ? true : nil))
        }
        wasSent = wasSent || !result.isUnsent
        switch sending.head {
        case .rejected(let head):
            guard case .waiting(_, let until, _) = retry.state else {
                return end(Outcome(result: .failure(.cancelled)))
            }
            state = .waiting(.rejected(head))
            return Decision(action: .wait(until: until, nil))
        case .judging(let head):
            outcome.head = head
            state = .judging(outcome)
            return Decision(action: .none)
        case .held(let head): outcome.head = head
        case .awaited, .passed: break
        }
        // The token of a retry that was refused was not used.
        hasToken = sending.attempt > 1 && result.isRefusal
        guard !sending.control.isCancelled else { return end(outcome) }
        let isDelivered = if case .passed = sending.head { isStreamed } else { false }
        let action = retry.attemptEnded(
            RetryMachine.Ending(result, policy), isDelivered: isDelivered, bodyIsReplayable: bodyIsReplayable,
            now: now, random: random)
        guard action == .askBudget else { return end(outcome, stop(action)) }
        state = .judging(outcome)
        return Decision(action: .askBudget)
    }

    // MARK: The next attempt

    /// The retry budget gave a token, or has none.
    package mutating func budgetAnswered(granted: Bool, now: Duration) -> Decision {
        guard case .askingBudget(let failed, _) = retry.state else { return tooLate(granted) }
        let action = retry.budgetAnswered(granted: granted, now: now)
        if case .wait(let until, let cause) = action {
            let news = TransferRetry(attempt: failed, reason: cause.label, wait: max(.zero, until - now.clampedTime))
            return waits(until: until, news)
        }
        hasToken = granted
        switch state {
        case .judging(let outcome): return end(outcome, stop(action))
        case .sending(var sending):
            guard case .judging(let head) = sending.head else { return tooLate(granted) }
            sending.head = .passed
            state = .sending(sending)
            hasToken = false
            return Decision(action: .passHead(head), givesBackToken: granted, stop: stop(action))
        case .idle, .admitting, .waiting, .over: return tooLate(granted)
        }
    }

    private mutating func waits(until: Duration, _ news: TransferRetry) -> Decision {
        hasToken = true
        switch state {
        case .judging(let outcome):
            state = .waiting(.outcome(outcome))
            return Decision(action: .wait(until: until, news))
        case .sending(var sending):
            guard case .judging(let head) = sending.head else { return tooLate(true) }
            sending.head = .rejected(head)
            let order = sending.control.cancel()
            state = .sending(sending)
            return Decision(action: .reject(order, news))
        case .idle, .admitting, .waiting, .over: return tooLate(true)
        }
    }

    /// The call was cancelled, or the transport shut down, while the budget was asked.
    private mutating func tooLate(_ granted: Bool) -> Decision {
        hasToken = false
        if case .sending(var sending) = state, case .judging(let head) = sending.head {
            sending.head = .rejected(head)
            state = .sending(sending)
        }
        return Decision(action: .none, givesBackToken: granted)
    }

    /// The time of the last ``Action/wait(until:_:)`` has come. An early timer waits again.
    package mutating func waitElapsed(now: Duration) -> Decision {
        guard case .waiting(let last) = state else { return Decision(action: .none) }
        return proceed(retry.waitElapsed(now: now), last: last)
    }

    private mutating func proceed(_ action: RetryMachine.Action, last: Last?) -> Decision {
        switch action {
        case .send(let attempt, _):
            state = .admitting(attempt: attempt, last: last)
            return Decision(action: .admit(attempt: attempt))
        case .stop:
            var decision = end(last, because: .deadlineExceeded.refused)
            // The call may also have ended before its first attempt.
            if last != nil { decision.stop = stop(action) }
            return decision
        case .askBudget, .wait, .none:
            guard case .waiting(_, let until, _) = retry.state else { return Decision(action: .none) }
            return Decision(action: .wait(until: until, nil))
        }
    }

    /// No further attempt is sent. `error`: the reason.
    private mutating func end(_ last: Last?, because error: ErrandError) -> Decision {
        switch last {
        case .outcome(let outcome): end(outcome)
        // The body of the former response was not read, so the caller cannot get that response.
        case .rejected(let head):
            end(Outcome(result: .failure(error.with(response: head, isRefusal: false, followsSends: true))))
        case nil: end(Outcome(result: .failure(error)))
        }
    }

    private mutating func end(_ outcome: Outcome, _ stop: RetryStop? = nil) -> Decision {
        _ = retry.cancelled()
        state = .over
        defer { hasToken = false }
        return Decision(action: .end(outcome), givesBackToken: hasToken, stop: stop)
    }

    /// The reason against a retry of a failure that the policy retries; `nil`: there is none.
    private func stop(_ action: RetryMachine.Action) -> RetryStop? {
        guard policy.maxAttempts > 1, case .stop(let reason) = action else { return nil }
        switch reason {
        case .answered, .permanentFailure, .cancelled: return nil
        case .answerDelivered, .notIdempotent, .bodyNotReplayable, .attemptsExhausted, .retryAfterTooLong,
            .deadlineTooClose, .retryTimeOver, .budgetExhausted:
            return reason
        }
    }
}

extension TransferResult {
    fileprivate var isRefusal: Bool {
        if case .failure(let error) = self { error.isRefusal } else { false }
    }
}

extension RetryMachine.Ending {
    /// The ending of a transfer. Header fields are parsed only where they matter.
    init(_ result: TransferResult, _ policy: RetryPolicy) {
        switch result {
        case .response(let response):
            let status = response.statusCode
            self = .answer(status: status, fields: policy.statusCodes.contains(status) ? response.headers : [:])
        case .failure(let error):
            self = .failure(error)
        }
    }
}
