/// The vote of an ended call.
public enum BreakerOutcome: String, Sendable, Hashable, CaseIterable {
    /// The endpoint did its work.
    case success
    /// The endpoint failed.
    case failure
    /// The call says nothing about the endpoint. A probe's permit goes to another call.
    case ignored

    /// The vote of an answer: 500...599 is a failure. Other statuses, 4xx included, are successes of the endpoint.
    public init(status: Int) {
        self = (500...599).contains(status) ? .failure : .success
    }

    /// The vote of a failed call. An error with a response votes by its status; a network failure and a timeout are
    /// failures. Refusals by this client, cancellations, and failures of the caller's own hooks are ignored.
    public init(error: ErrandError) {
        if error.isRefusal || error == .deadlineExceeded {
            self = .ignored
        } else if error.transientFailure != nil, error != .outOfDescriptors {
            self = .failure
        } else if error != .cancelled, let status = error.statusCode {
            self.init(status: status)
        } else {
            self = .ignored
        }
    }

    /// The vote of a failed call. `isCutShort`: its total time was only the time that its caller had left. The server
    /// may then not have taken longer than usual, so a total timeout votes only by the status of a response that began.
    init(error: ErrandError, isCutShort: Bool) {
        guard isCutShort, error == .timeoutTotal else {
            self.init(error: error)
            return
        }
        self = error.statusCode.map { BreakerOutcome(status: $0) } ?? .ignored
    }
}
