/// Who acts in the run of a request with interceptors: the interceptors or the request. The machine is pure: each method
/// is an event that has happened, and returns one action. The shell (``Interception``) calls it while its lock is held,
/// and carries out the action after the lock is released.
struct InterceptionStateMachine: ~Copyable {
    enum State: Equatable {
        /// Code of the interceptors runs.
        case running
        /// The innermost `next` was called; the request has not taken its description yet.
        case asking(call: Int)
        /// The request sends the description. `isGivenUp`: nobody waits for the response any more.
        case sending(call: Int, isGivenUp: Bool)
        /// The innermost `next` was called anew, after an abandoned call whose transfer (`sent`) has not ended yet. The
        /// request may take the description after that end.
        case askingWhileSending(call: Int, sent: Int)
        /// The interceptors have ended during a transfer that they gave up. The transfer has not ended yet.
        case endedWhileSending
        /// The interceptors have ended with a result.
        case ended
        /// The run does not need the interceptors any more.
        case closed
    }

    enum NextAction: Equatable {
        /// Offer the description to the request, under the number of this call.
        case ask(call: Int)
        /// Another call is under way.
        case refuseConcurrent
        /// The interceptors or the run have ended.
        case refuseLate
    }

    enum GiveUpAction: Equatable {
        case none
        /// Take the description back: nothing is sent.
        case withdraw
        /// Cancel the transfer. `next` returns at its end.
        case cut(call: Int)
    }

    enum ResultAction: Equatable {
        /// Return the result from `next`.
        case resume
        /// Nobody waits for the result: another call of `next` is there already.
        case replace
        /// Nobody waits for the result: the result of the interceptors, which is there already, replaces it.
        case drop
    }

    enum EndAction: Equatable {
        /// Offer the result to the request.
        case report
        /// The same; the description that was offered is not sent.
        case reportAndWithdraw
        /// Offer the result at the end of the transfer, and cancel the transfer.
        case cut(call: Int)
        case ignore
    }

    private(set) var state = State.running
    private var lastCall = 0

    init(_ state: State = .running) {
        self.state = state
    }

    /// The innermost `next` was called.
    mutating func nextCalled() -> NextAction {
        switch state {
        case .running:
            lastCall += 1
            state = .asking(call: lastCall)
            return .ask(call: lastCall)
        case .sending(let sent, true):
            // The call was abandoned: as long as somebody waits for a call, `InterceptionProgress` refuses others.
            lastCall += 1
            state = .askingWhileSending(call: lastCall, sent: sent)
            return .ask(call: lastCall)
        case .asking, .sending, .askingWhileSending:
            return .refuseConcurrent
        case .endedWhileSending, .ended, .closed:
            return .refuseLate
        }
    }

    /// The request takes the description. Returns false if it was withdrawn.
    mutating func taken(_ call: Int) -> Bool {
        guard case .asking(call: call) = state else { return false }
        state = .sending(call: call, isGivenUp: false)
        return true
    }

    /// Whether the interceptors have ended, or are not wanted any more.
    var isOver: Bool {
        switch state {
        case .ended, .closed: true
        case .running, .asking, .sending, .askingWhileSending, .endedWhileSending: false
        }
    }

    /// Whether the description of this call waits to be taken, now or after the end of an abandoned transfer.
    func isAsking(_ call: Int) -> Bool {
        switch state {
        case .asking(let present), .askingWhileSending(let present, _): present == call
        case .running, .sending, .endedWhileSending, .ended, .closed: false
        }
    }

    /// Whether the response to this call is not wanted any more.
    func isGivenUp(_ call: Int) -> Bool {
        switch state {
        case .sending(call: call, let isGivenUp): isGivenUp
        case .running, .asking, .sending, .askingWhileSending, .endedWhileSending, .ended, .closed: true
        }
    }

    /// The task that called `next` was cancelled; `nil`: whichever call is under way.
    mutating func gaveUp(_ number: Int?) -> GiveUpAction {
        switch state {
        case .asking(let call) where number ?? call == call:
            state = .running
            return .withdraw
        case .sending(let call, false) where number ?? call == call:
            state = .sending(call: call, isGivenUp: true)
            return .cut(call: call)
        case .askingWhileSending(let call, let sent) where number ?? call == call:
            state = .sending(call: sent, isGivenUp: true)
            return .withdraw
        case .running, .asking, .sending, .askingWhileSending, .endedWhileSending, .ended, .closed:
            // The call has ended, or was given up before.
            return .none
        }
    }

    /// The transfer has ended, or the head of a streamed response is there.
    mutating func resultArrived() -> ResultAction {
        switch state {
        case .sending:
            state = .running
            return .resume
        case .askingWhileSending(let call, _):
            state = .asking(call: call)
            return .replace
        case .endedWhileSending:
            state = .ended
            return .drop
        case .running, .asking, .ended, .closed:
            // The run was ended meanwhile.
            return .drop
        }
    }

    /// The outermost interceptor has returned or thrown.
    mutating func interceptorsEnded() -> EndAction {
        switch state {
        case .running:
            state = .ended
            return .report
        case .asking:
            // `next` was called in a task that the interceptor did not wait for.
            state = .ended
            return .reportAndWithdraw
        case .sending(let call, _), .askingWhileSending(_, let call):
            state = .endedWhileSending
            return .cut(call: call)
        case .endedWhileSending, .ended, .closed:
            return .ignore
        }
    }

    /// The run has ended, or does not wait for the interceptors any more.
    mutating func closed() {
        state = .closed
    }
}
