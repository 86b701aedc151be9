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
        if error.isRefusal {
            self = .ignored
        } else if error.transientFailure != nil, error != .outOfDescriptors {
            self = .failure
        } else if error != .cancelled, let status = error.statusCode {
            self.init(status: status)
        } else {
            self = .ignored
        }
    }
}
