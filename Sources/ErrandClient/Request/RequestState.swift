/// Where a request is, as its user sees it.
public enum RequestState: Sendable, Hashable {
    /// Never started.
    case idle
    /// Started, and not over.
    case running
    /// Running, and held back by ``AnyRequest/pause()``.
    case paused
    /// Stopped, and the end not yet told.
    case stopping
    /// Over: there is a value.
    case succeeded
    /// Over: there is an error.
    case failed
    /// Over: it was stopped.
    case cancelled

    /// Whether it is over.
    public var isFinished: Bool {
        switch self {
        case .succeeded, .failed, .cancelled: true
        case .idle, .running, .paused, .stopping: false
        }
    }

    init(_ state: RequestStateMachine.State) {
        switch state {
        case .idle:
            self = .idle
        case .preparing(let run), .submitting(let run), .inFlight(let run, _), .processing(let run), .working(let run):
            self = run.isPaused ? .paused : .running
        case .ending:
            self = .running
        case .stoppedWhileSubmitting, .stopping, .stoppedWhileProcessing, .endingStopped:
            self = .stopping
        case .telling(_, .succeeded, _), .finished(_, .succeeded):
            self = .succeeded
        case .telling(_, .failed, _), .finished(_, .failed):
            self = .failed
        case .telling(_, .cancelled, _), .finished(_, .cancelled):
            self = .cancelled
        }
    }
}
