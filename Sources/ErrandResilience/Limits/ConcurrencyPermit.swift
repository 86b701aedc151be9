import Synchronization

/// A place among the requests in flight. The permit is given back once, by the first call of ``record()``,
/// ``recordOverload()`` or ``drop()``; later calls do nothing. A permit that is released without a call is dropped. Any
/// thread.
public final class ConcurrencyPermit: Sendable {
    /// `nil`: the permit has come back.
    private let grant: Mutex<ConcurrencyGrant?>
    private let limit: ConcurrencyLimit

    init(_ grant: ConcurrencyGrant, of limit: ConcurrencyLimit) {
        self.grant = Mutex(grant)
        self.limit = limit
    }

    deinit {
        drop()
    }

    /// The request has ended with a response. The time since the permit was granted is a sample of the latency.
    public func record() {
        giveBack { .recorded($0) }
    }

    /// The server refused the request for overload (429, 503), or did not answer in time.
    public func recordOverload() {
        giveBack { .overloaded($0) }
    }

    /// The request has ended without telling anything about the server: it was cancelled, or not sent.
    public func drop() {
        giveBack { _ in .dropped }
    }

    /// The request waits for something else before it is sent: it keeps its place.
    func hold() {
        grant.withLock { grant in grant = grant.map { limit.hold($0) } }
    }

    /// The request is sent now, after a wait: its latency begins. `now`: a reading of the limit's
    /// stopwatch.
    func begin(now: Duration) {
        grant.withLock { grant in grant = grant.map { limit.begin($0, now: now) } }
    }

    private func giveBack(_ use: (Duration) -> ConcurrencyLimit.Machine.Use) {
        guard let last = grant.withLock({ $0.take() }) else { return }
        limit.take(back: last, use)
    }
}
