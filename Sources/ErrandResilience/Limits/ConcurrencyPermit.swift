import Synchronization

/// A place among the requests in flight. Comes back once, by the first call of ``record()``, ``recordOverload()`` or
/// ``drop()``; later calls do nothing. A permit that is released without a call is dropped. Any thread.
public final class ConcurrencyPermit: Sendable {
    private let grant: ConcurrencyGrant
    private let limit: ConcurrencyLimit
    private let isReturned = Atomic<Bool>(false)

    init(_ grant: ConcurrencyGrant, of limit: ConcurrencyLimit) {
        self.grant = grant
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

    private func giveBack(_ use: (Duration) -> ConcurrencyLimit.Machine.Use) {
        guard !isReturned.exchange(true, ordering: .relaxed) else { return }
        limit.take(back: grant, use)
    }
}
