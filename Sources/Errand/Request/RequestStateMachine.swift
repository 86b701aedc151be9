/// The life of one request: pure, takes past events, answers with one order. The shell (``AnyRequest``) feeds it under
/// its lock and acts after the lock is dropped.
struct RequestStateMachine: ~Copyable {
    /// One run from start to end, over all its transfers.
    struct Run: Equatable {
        /// Number of the run's present transfer, counted over the object's life: tells a late `submitted` from a
        /// present one.
        var transfer: Int
        /// Paused by the user; a transfer that is submitted meanwhile is paused at once.
        var isPaused = false
    }

    enum State: Equatable {
        /// Never started.
        case idle
        /// Handed to the transport, whose `submit` has not returned yet, so the id is not known here.
        case submitting(Run)
        /// Stopped before the id was known.
        case stoppedWhileSubmitting(Run)
        /// The transport has it.
        case inFlight(Run, TransferID)
        /// Cancelled; the transport's last event is awaited.
        case stopping(Run)
        /// A transfer ended; redirects, status and decoding are being looked at.
        case processing(Run)
        /// Stopped meanwhile, or before.
        case stoppedWhileProcessing(Run)
        /// The outcome is known and accessories are being told.
        case ending(Run)
        /// Stopped meanwhile.
        case endingStopped(Run)
        /// Over, and may be started again.
        case finished(Run, Outcome)
    }

    /// How a run ended.
    enum Outcome: Equatable {
        case succeeded
        case failed(ErrandError)
        case cancelled
    }

    enum StartAction: Equatable {
        case submit(transfer: Int)
        /// It runs already.
        case refuse
    }

    enum ControlAction: Equatable {
        case none
        case cancel(TransferID)
        case pause(TransferID)
        case resume(TransferID)
    }

    enum EndAction: Equatable {
        /// Look at the result.
        case evaluate
        /// Stopped: do not look, conclude.
        case conclude
        /// A transport that told twice, or without having been asked.
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
            state = .submitting(Run(transfer: next))
            return .submit(transfer: next)
        case .submitting, .stoppedWhileSubmitting, .inFlight, .stopping, .processing, .stoppedWhileProcessing, .ending,
            .endingStopped:
            return .refuse
        }
    }

    mutating func submitted(_ id: TransferID, transfer: Int) -> ControlAction {
        switch state {
        case .submitting(let run) where run.transfer == transfer:
            state = .inFlight(run, id)
            return run.isPaused ? .pause(id) : .none
        case .stoppedWhileSubmitting(let run) where run.transfer == transfer:
            state = .stopping(run)
            return .cancel(id)
        case .idle, .submitting, .stoppedWhileSubmitting, .inFlight, .stopping, .processing, .stoppedWhileProcessing,
            .ending, .endingStopped, .finished:
            // The transfer ended before `submit` had returned, and another one may be under way by now.
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
        case .ending(let run):
            state = .endingStopped(run)
            return .none
        case .idle, .stoppedWhileSubmitting, .stopping, .stoppedWhileProcessing, .endingStopped, .finished:
            // Nothing runs, or it is stopped already, or the outcome was told a moment ago.
            return .none
        }
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
        case .idle, .stoppedWhileSubmitting, .stopping, .stoppedWhileProcessing, .ending, .endingStopped, .finished:
            // No byte is left to hold back.
            return .none
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
        case .idle, .processing, .stoppedWhileProcessing, .ending, .endingStopped, .finished:
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
        case .idle, .submitting, .stoppedWhileSubmitting, .inFlight, .stopping, .ending, .endingStopped, .finished:
            // Only our own bug leads here, no caller and no server.
            preconditionFailure(
                "hopDecided in \(state): only `transferEnded` leads here, and it says so once a transfer")
        }
    }

    /// The result was looked at; accessories are about to be told.
    mutating func processed() {
        switch state {
        case .processing(let run):
            state = .ending(run)
        case .stoppedWhileProcessing(let run):
            state = .endingStopped(run)
        case .idle, .submitting, .stoppedWhileSubmitting, .inFlight, .stopping, .ending, .endingStopped, .finished:
            // Only our own bug leads here, no caller and no server.
            preconditionFailure(
                "processed in \(state): only `transferEnded` leads here, and it says so once a transfer")
        }
    }

    /// Accessories were told; answers what is to be told to everybody else, which is not `proposal` if the request was
    /// stopped in the meantime.
    mutating func concluded(_ proposal: Outcome) -> Outcome {
        switch state {
        case .ending(let run):
            state = .finished(run, proposal)
            return proposal
        case .endingStopped(let run):
            state = .finished(run, .cancelled)
            return .cancelled
        case .idle, .submitting, .stoppedWhileSubmitting, .inFlight, .stopping, .processing, .stoppedWhileProcessing,
            .finished:
            // Only our own bug leads here, no caller and no server.
            preconditionFailure("concluded in \(state): it follows `processed`")
        }
    }
}
