import Synchronization

/// An endpoint for one request. The lease is given back once, by the first call of ``answer(status:retryAfter:)``,
/// ``succeed()``, ``fail(retryAfter:)``, ``lose(after:)``, ``abandon()`` or ``drop()``; later calls do nothing. A lease
/// that is released without a call is dropped. Any thread.
///
/// For a streamed response, call ``vote(status:retryAfter:)`` at its head and ``drop()`` at its end. Until its end the
/// request counts as load of the endpoint.
public final class EndpointLease: Sendable {
    private let pick: EndpointStateMachine.Pick
    private let set: EndpointSet
    private let isReturned = Atomic<Bool>(false)
    private let hasVoted = Atomic<Bool>(false)

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

    /// The head of a streamed response arrived, and is judged as by ``answer(status:retryAfter:)``. The request goes
    /// on. The call that gives the lease back later is not judged: neither the time that the caller takes to read the
    /// stream nor a break of the stream counts.
    public func vote(status: Int, retryAfter: Duration? = nil) {
        guard !isReturned.load(ordering: .relaxed), !hasVoted.exchange(true, ordering: .relaxed) else { return }
        set.take(voteOf: pick) { .init(status: status, retryAfter: retryAfter, latency: $0) }
    }

    /// The endpoint answered with this status. A status of 500 and above is a failure. Any other is a success; a 429
    /// also asks for fewer requests (``EndpointPolicy/PeakEWMA/throttlePenalty``). `retryAfter`: the value of the
    /// response's `Retry-After` field.
    public func answer(status: Int, retryAfter: Duration? = nil) {
        giveBack { .init(status: status, retryAfter: retryAfter, latency: $0) }
    }

    /// The endpoint answered. The time since the choice is a sample of its latency.
    public func succeed() {
        giveBack { .success($0) }
    }

    /// The endpoint failed: no connection, no answer in time, or a status of 500 and above. `retryAfter`: the wait that
    /// it asked for.
    public func fail(retryAfter: Duration? = nil) {
        giveBack { .failure($0, wait: retryAfter) }
    }

    /// Another attempt of the request was faster, and this one was cancelled without an answer. Its latency would have
    /// been longer than the time since the choice, so this time can raise the endpoint's latency, but never lowers it.
    ///
    /// `delay`: the wait before a hedge. An attempt that is at least this old is late. A late attempt counts as a
    /// failure if the endpoint has stalled (``EndpointPolicy/Outliers/stallTime``).
    public func lose(after delay: Duration) {
        giveBack { .lost($0, isLate: $0 >= delay) }
    }

    /// The caller cancelled the request, or had no time left. The time since the choice can raise the endpoint's
    /// latency, but never lowers it, and says nothing about the endpoint's health.
    public func abandon() {
        giveBack { .abandoned($0) }
    }

    /// The request says nothing about the endpoint: it was not sent.
    public func drop() {
        giveBack { _ in .dropped }
    }

    private func giveBack(_ outcome: (Duration) -> EndpointStateMachine.Outcome) {
        guard !isReturned.exchange(true, ordering: .relaxed) else { return }
        let hasVoted = hasVoted.exchange(true, ordering: .relaxed)
        set.take(back: pick) { hasVoted ? .voted : outcome($0) }
    }
}
