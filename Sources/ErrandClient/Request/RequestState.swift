/// The state of a request, as its user sees it.
public enum RequestState: Sendable, Hashable {
    /// Never started.
    case idle
    /// Started, and not ended.
    case running
    /// Running, and paused by ``AnyRequest/pause()``.
    case paused
    /// Stopped; the end is not reported yet.
    case stopping
    /// Ended with a value.
    case succeeded
    /// Ended with an error.
    case failed
    /// Ended by a stop.
    case cancelled

    /// Whether the request has ended.
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
        case .notifying(_, .succeeded, _), .finished(_, .succeeded):
            self = .succeeded
        case .notifying(_, .failed, _), .finished(_, .failed):
            self = .failed
        case .notifying(_, .cancelled, _), .finished(_, .cancelled):
            self = .cancelled
        }
    }
}
