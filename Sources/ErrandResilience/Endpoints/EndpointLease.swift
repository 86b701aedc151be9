import Synchronization

/// An endpoint for one request. Comes back once, by the first call of ``succeed()``, ``fail()`` or ``drop()``; later
/// calls do nothing. A lease that is released without a call is dropped. Any thread.
public final class EndpointLease: Sendable {
    private let pick: EndpointStateMachine.Pick
    private let set: EndpointSet
    private let isReturned = Atomic<Bool>(false)

    init(_ pick: EndpointStateMachine.Pick, of set: EndpointSet) {
        self.pick = pick
        self.set = set
    }

    deinit {
        drop()
    }

    /// The endpoint.
    public var endpoint: Endpoint { pick.endpoint }

    /// Whether the request is the first one after an ejection, which decides whether the endpoint is used again.
    public var isProbe: Bool { pick.isProbe }

    /// Whether the endpoint was among those that the request had tried.
    public var isRepeated: Bool { pick.isRepeated }

    /// The endpoint answered. The time since the choice is a sample of its latency.
    public func succeed() {
        giveBack { .success($0) }
    }

    /// The endpoint failed: no connection, no answer in time, or a status of 500 and above.
    public func fail() {
        giveBack { .failure($0) }
    }

    /// The request says nothing of the endpoint: it was cancelled, or not sent.
    public func drop() {
        giveBack { _ in .dropped }
    }

    private func giveBack(_ outcome: (Duration) -> EndpointStateMachine.Outcome) {
        guard !isReturned.exchange(true, ordering: .relaxed) else { return }
        set.take(back: pick, outcome)
    }
}
