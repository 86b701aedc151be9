/// The life of one request. The machine is pure: each method is an event that has happened, and returns one action. The
/// shell (``AnyRequest``) calls it while its lock is held, and carries out the action after the lock is released.
package struct RequestStateMachine: ~Copyable {
    /// One run from start to end, over all its transfers.
    struct Run: Equatable {
        /// Number of the run's present transfer, counted over the object's life: tells a late `submitted` from a
        /// present one.
        var transfer: Int
        /// Paused by the user; a transfer that is submitted meanwhile is paused at once.
        var isPaused = false
        /// Number of the present or last asynchronous step, counted over the object's life: tells the end of a step
        /// that was given up from that of the present one.
        var work = 0
    }

    enum State: Equatable {
        /// Never started.
        case idle
        /// Interceptors run, and nothing was sent yet.
        case preparing(Run)
        /// Passed to the transport, whose `submit` has not returned yet, so the transfer id is not known.
        case submitting(Run)
        /// Stopped before the transfer id was known.
        case stoppedWhileSubmitting(Run)
        /// The transport runs the transfer.
        case inFlight(Run, TransferID)
        /// The transfer was cancelled; its last event has not arrived yet.
        case stopping(Run)
        /// A transfer ended; redirects, status and decoding are being processed.
        case processing(Run)
        /// The same, in an asynchronous step: interceptors, validators, the decoder of a large body.
        case working(Run)
        /// Stopped during processing, or before.
        case stoppedWhileProcessing(Run)
        /// The outcome is known; accessories' `requestWillStop` is being called.
        case ending(Run)
        /// Stopped while `requestWillStop` is being called.
        case endingStopped(Run)
        /// The run has ended. Delegate, closures and `requestDidStop` are being called; a new start waits for them.
        case notifying(Run, Outcome, Notifying)
        /// The run has ended, and the request may be started again.
        case finished(Run, Outcome)
    }

    /// What was requested while the callbacks are being called.
    struct Notifying: Equatable {
        /// Stopped: closures that were not called yet are not called.
        var isSilenced = false
        /// The run that begins after all callbacks.
        var next: Next?
    }

    /// A run that was requested and has not begun.
    struct Next: Equatable {
        var isPaused = false
        /// Whether the run was stopped. It begins nevertheless, so that its callbacks are called, but nothing is sent.
        var isStopped = false
    }

    /// How a run ended.
    enum Outcome: Equatable {
        case succeeded
        case failed(ErrandError)
        case cancelled
    }

    package enum StartAction: Equatable {
        case submit(transfer: Int)
        /// The start follows later: `notified` returns it.
        case postpone
        /// The request runs already.
        case refuse
    }

    enum NotifiedAction: Equatable {
        case submit(transfer: Int)
        case rest
    }

    enum ControlAction: Equatable {
        case none
        case cancel(TransferID)
        case pause(TransferID)
        case resume(TransferID)
        /// Cancel the asynchronous step, do not wait for it, and conclude.
        case abandon
    }

    enum WorkAction: Equatable {
        case goOn
        /// The step was given up, or belongs to an earlier run.
        case ignore
    }

    enum EndAction: Equatable {
        /// Look at the result.
        case evaluate
        /// The request was stopped: conclude without evaluating the result.
        case conclude
        /// The transport reported the end twice, or without a transfer.
        case ignore
    }

    enum HopAction: Equatable {
        case submit(transfer: Int)
        case conclude
    }

    private(set) var state: State

    init(_ state: State = .idle) {
        self.state = state
    }

    mutating func startRequested() -> StartAction {
        switch state {
        case .idle:
            state = .submitting(Run(transfer: 1))
            return .submit(transfer: 1)
        case .finished(let run, _):
            let next = run.transfer + 1
            state = .submitting(Run(transfer: next, work: run.work))
            return .submit(transfer: next)
        case .notifying(let run, let outcome, var notifying):
            guard notifying.next == nil else { return .refuse }
            notifying.next = Next()
            state = .notifying(run, outcome, notifying)
            return .postpone
        case .preparing, .submitting, .stoppedWhileSubmitting, .inFlight, .stopping, .processing, .working,
            .stoppedWhileProcessing, .ending, .endingStopped:
            return .refuse
        }
    }

    /// An asynchronous step is about to run, before the submission or after the transfer. Returns the step's number, or
    /// `nil` if the request was stopped and the step must not run.
    mutating func workBegan() -> Int? {
        switch state {
        case .submitting(var run):
            run.work += 1
            state = .preparing(run)
            return run.work
        case .processing(var run):
            run.work += 1
            state = .working(run)
            return run.work
        case .stoppedWhileSubmitting, .stoppedWhileProcessing:
            return nil
        case .idle, .preparing, .inFlight, .stopping, .working, .ending, .endingStopped, .notifying, .finished:
            // Only our own bug leads here, no caller and no server.
            preconditionFailure("workBegan in \(state): it follows a start, a hop or the end of a transfer")
        }
    }

    /// The step has ended, or its deadline has passed, whichever is reported first.
    mutating func workEnded(_ work: Int) -> WorkAction {
        switch state {
        case .preparing(let run) where run.work == work:
            state = .submitting(run)
            return .goOn
        case .working(let run) where run.work == work:
            state = .processing(run)
            return .goOn
        case .idle, .preparing, .submitting, .stoppedWhileSubmitting, .inFlight, .stopping, .processing, .working,
            .stoppedWhileProcessing, .ending, .endingStopped, .notifying, .finished:
            return .ignore
        }
    }

    /// The client shuts down during a step. Returns whether there is a step to give up.
    mutating func abandonRequested() -> Bool {
        switch state {
        case .preparing(let run), .working(let run):
            state = .processing(run)
            return true
        case .idle, .submitting, .stoppedWhileSubmitting, .inFlight, .stopping, .processing, .stoppedWhileProcessing,
            .ending, .endingStopped, .notifying, .finished:
            // The transport ends the transfer, or the run is about to end anyway.
            return false
        }
    }

    /// Whether the step with this number runs and was not given up.
    func isWorking(_ work: Int) -> Bool {
        switch state {
        case .preparing(let run), .working(let run): run.work == work
        default: false
        }
    }

    /// The number of the transfer that was not handed to the transport yet, whether stopped or not.
    var unsubmitted: Int? {
        switch state {
        case .submitting(let run), .stoppedWhileSubmitting(let run): run.transfer
        case .idle, .preparing, .inFlight, .stopping, .processing, .working, .stoppedWhileProcessing, .ending,
            .endingStopped, .notifying, .finished:
            nil
        }
    }

    /// Whether the transfer may still be passed to the transport. If not, it ends as cancelled.
    func maySubmit(transfer: Int) -> Bool {
        guard case .submitting(let run) = state else { return false }
        return run.transfer == transfer
    }

    mutating func submitted(_ id: TransferID, transfer: Int) -> ControlAction {
        switch state {
        case .submitting(let run) where run.transfer == transfer:
            state = .inFlight(run, id)
            return run.isPaused ? .pause(id) : .none
        case .stoppedWhileSubmitting(let run) where run.transfer == transfer:
            state = .stopping(run)
            return .cancel(id)
        case .idle, .preparing, .submitting, .stoppedWhileSubmitting, .inFlight, .stopping, .processing, .working,
            .stoppedWhileProcessing, .ending, .endingStopped, .notifying, .finished:
            // The transfer ended before `submit` had returned, and another one may be under way by now.
            return .none
        }
    }

    /// A watcher sends the transfer again, under this id. What was ordered under the former id may have come too late,
    /// so it is ordered again.
    mutating func transferContinues(as id: TransferID) -> ControlAction {
        switch state {
        case .submitting(let run), .inFlight(let run, _):
            // In `submitting`: the event overtook the return of `submit`, whose id is that of an ended attempt.
            state = .inFlight(run, id)
            return run.isPaused ? .pause(id) : .none
        case .stoppedWhileSubmitting(let run), .stopping(let run):
            state = .stopping(run)
            return .cancel(id)
        case .idle, .preparing, .processing, .working, .stoppedWhileProcessing, .ending, .endingStopped, .notifying,
            .finished:
            // No transfer runs, so there is none to continue.
            return .none
        }
    }

    mutating func stopRequested() -> ControlAction {
        switch state {
        case .submitting(let run):
            state = .stoppedWhileSubmitting(run)
            return .none
        case .inFlight(let run, let id):
            state = .stopping(run)
            return .cancel(id)
        case .processing(let run):
            state = .stoppedWhileProcessing(run)
            return .none
        case .preparing(let run), .working(let run):
            state = .stoppedWhileProcessing(run)
            return .abandon
        case .ending(let run):
            state = .endingStopped(run)
            return .none
        case .notifying(let run, let outcome, var notifying):
            notifying.isSilenced = true
            notifying.next?.isStopped = true
            state = .notifying(run, outcome, notifying)
            return .none
        case .idle, .stoppedWhileSubmitting, .stopping, .stoppedWhileProcessing, .endingStopped, .finished:
            // Nothing runs, the run is stopped already, or the outcome was just reported.
            return .none
        }
    }

    /// A group stops the run that it has started, and no other. If `isNotifying`, that is the run whose callbacks are
    /// being called. Otherwise it is the present run, or the one that begins after those callbacks.
    mutating func childStopRequested(isNotifying: Bool) -> ControlAction {
        guard case .notifying(let run, let outcome, var notifying) = state else {
            return isNotifying ? .none : stopRequested()
        }
        if isNotifying { notifying.isSilenced = true } else { notifying.next?.isStopped = true }
        state = .notifying(run, outcome, notifying)
        return .none
    }

    mutating func pauseRequested() -> ControlAction {
        setPaused(true)
    }

    mutating func resumeRequested() -> ControlAction {
        setPaused(false)
    }

    private mutating func setPaused(_ isPaused: Bool) -> ControlAction {
        switch state {
        case .submitting(var run):
            run.isPaused = isPaused
            state = .submitting(run)
            return .none
        case .inFlight(var run, let id):
            guard run.isPaused != isPaused else { return .none }
            run.isPaused = isPaused
            state = .inFlight(run, id)
            return isPaused ? .pause(id) : .resume(id)
        case .processing(var run):
            run.isPaused = isPaused
            state = .processing(run)
            return .none
        case .preparing(var run):
            run.isPaused = isPaused
            state = .preparing(run)
            return .none
        case .working(var run):
            run.isPaused = isPaused
            state = .working(run)
            return .none
        case .notifying(let run, let outcome, var notifying):
            notifying.next?.isPaused = isPaused
            state = .notifying(run, outcome, notifying)
            return .none
        case .idle, .stoppedWhileSubmitting, .stopping, .stoppedWhileProcessing, .ending, .endingStopped, .finished:
            // No bytes are left to hold back.
            return .none
        }
    }

    /// A pause or resume was passed to the transport, perhaps after a later one of another thread. If the transport is
    /// now in the wrong state, returns the action that corrects it. Each thread checks after its own action, so the
    /// transport ends in the request's state.
    func controlPerformed(_ action: ControlAction) -> ControlAction {
        guard case .inFlight(let run, let id) = state else { return .none }
        switch action {
        case .pause(id): return run.isPaused ? .none : .resume(id)
        case .resume(id): return run.isPaused ? .pause(id) : .none
        case .none, .cancel, .pause, .resume, .abandon: return .none
        }
    }

    mutating func transferEnded() -> EndAction {
        switch state {
        case .submitting(let run), .inFlight(let run, _):
            // In `submitting`: the event overtook the return of `submit`, or the submission was refused.
            state = .processing(run)
            return .evaluate
        case .stoppedWhileSubmitting(let run), .stopping(let run):
            state = .stoppedWhileProcessing(run)
            return .conclude
        case .idle, .preparing, .processing, .working, .stoppedWhileProcessing, .ending, .endingStopped, .notifying,
            .finished:
            return .ignore
        }
    }

    /// The response leads to another transfer of the same run.
    mutating func hopDecided() -> HopAction {
        switch state {
        case .processing(var run):
            run.transfer += 1
            state = .submitting(run)
            return .submit(transfer: run.transfer)
        case .stoppedWhileProcessing:
            return .conclude
        case .idle, .preparing, .submitting, .stoppedWhileSubmitting, .inFlight, .stopping, .working, .ending,
            .endingStopped, .notifying, .finished:
            // Only our own bug leads here, no caller and no server.
            preconditionFailure(
                "hopDecided in \(state): only `transferEnded` leads here, and it says so once a transfer")
        }
    }

    /// The result was processed; accessories' `requestWillStop` is about to be called.
    mutating func processed() {
        switch state {
        case .processing(let run):
            state = .ending(run)
        case .stoppedWhileProcessing(let run):
            state = .endingStopped(run)
        case .idle, .preparing, .submitting, .stoppedWhileSubmitting, .inFlight, .stopping, .working, .ending,
            .endingStopped, .notifying, .finished:
            // Only our own bug leads here, no caller and no server.
            preconditionFailure(
                "processed in \(state): only `transferEnded` leads here, and it says so once a transfer")
        }
    }

    /// Accessories' `requestWillStop` was called. Returns the outcome for delegate and closures, which is not
    /// `proposal` if the request was stopped in the meantime.
    mutating func concluded(_ proposal: Outcome) -> Outcome {
        switch state {
        case .ending(let run):
            state = .notifying(run, proposal, Notifying())
            return proposal
        case .endingStopped(let run):
            state = .notifying(run, .cancelled, Notifying())
            return .cancelled
        case .idle, .preparing, .submitting, .stoppedWhileSubmitting, .inFlight, .stopping, .processing, .working,
            .stoppedWhileProcessing, .notifying, .finished:
            // Only our own bug leads here, no caller and no server.
            preconditionFailure("concluded in \(state): it follows `processed`")
        }
    }

    /// All callbacks of the run were called.
    mutating func notified() -> NotifiedAction {
        switch state {
        case .notifying(let run, let outcome, let notifying):
            guard let next = notifying.next else {
                state = .finished(run, outcome)
                return .rest
            }
            let begun = Run(transfer: run.transfer + 1, isPaused: next.isPaused, work: run.work)
            state = next.isStopped ? .stoppedWhileSubmitting(begun) : .submitting(begun)
            return .submit(transfer: begun.transfer)
        case .idle, .preparing, .submitting, .stoppedWhileSubmitting, .inFlight, .stopping, .processing, .working,
            .stoppedWhileProcessing, .ending, .endingStopped, .finished:
            // Only our own bug leads here, no caller and no server.
            preconditionFailure("notified in \(state): it follows `concluded`")
        }
    }

    /// The transport's id of the present transfer, while the transfer runs and the id is known.
    var transferID: TransferID? {
        switch state {
        case .inFlight(_, let id): id
        default: nil
        }
    }

    /// How the run ended; `nil` before its end.
    var outcome: Outcome? {
        switch state {
        case .notifying(_, let outcome, _), .finished(_, let outcome): outcome
        default: nil
        }
    }

    /// Whether a run has ended with success.
    var hasSucceeded: Bool {
        switch state {
        case .notifying(_, .succeeded, _), .finished(_, .succeeded): true
        default: false
        }
    }

    /// Whether nothing runs and no run was requested.
    var isAtRest: Bool {
        switch state {
        case .idle, .finished: true
        default: false
        }
    }

    /// Whether the run was stopped: its events are no longer reported to observers.
    var isStopped: Bool {
        switch state {
        case .stoppedWhileSubmitting, .stopping, .stoppedWhileProcessing, .endingStopped, .notifying(_, .cancelled, _),
            .finished(_, .cancelled):
            true
        case .idle, .preparing, .submitting, .inFlight, .processing, .working, .ending, .notifying, .finished:
            false
        }
    }

    /// Whether the request was stopped while its callbacks are being called.
    var isSilenced: Bool {
        guard case .notifying(_, _, let notifying) = state else { return false }
        return notifying.isSilenced
    }
}
