import Synchronization

/// State that the attempts of one transfer share: the endpoints that they have used, and whether they are hedges of each
/// other. Any thread.
package final class AttemptTrail: Sendable {
    /// The wait before a hedge; `nil`: the attempts are no hedges.
    package let hedgeDelay: Duration?
    /// Whether the hedges of the transfer are only counted. Its attempts are no hedges then.
    package let isDryRun: Bool
    private let tried = Mutex<Set<String>>([])
    private let hasDeposited = Atomic<Bool>(false)
    private let isOver = Atomic<Bool>(false)
    private let isWon = Atomic<Bool>(false)
    private let sent = Atomic<Int>(0)
    private let numbers = Atomic<Int>(0)
    private let lastTime = Mutex<Duration?>(nil)

    package init(hedgeDelay: Duration? = nil, isDryRun: Bool = false) {
        self.hedgeDelay = hedgeDelay
        self.isDryRun = isDryRun
    }

    /// Whether the attempts are hedges. Hedged attempts are not retried.
    package var isHedged: Bool { hedgeDelay != nil }

    /// The endpoints that attempts have used.
    package var endpoints: Set<String> { tried.withLock { $0 } }

    /// An attempt is sent to this endpoint.
    package func add(endpoint: String) {
        tried.withLock { _ = $0.insert(endpoint) }
    }

    /// Whether the caller must pay to the retry budget for the transfer. True for the first call only.
    package func takeDeposit() -> Bool { !hasDeposited.exchange(true, ordering: .relaxed) }

    /// The attempt that has paid was not sent: the next one pays.
    package func returnDeposit() { hasDeposited.store(false, ordering: .relaxed) }

    /// An attempt has its permits and is sent. `time`: a reading of the clock of the transport that sends it. Returns how
    /// many attempts were sent, including this one.
    package func attemptSent(at time: Duration) -> Int {
        lastTime.withLock { $0 = time }
        return sent.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// The transport beneath has refused an attempt.
    package func attemptRefused() { sent.wrappingSubtract(1, ordering: .relaxed) }

    /// The attempts that were sent. An attempt that waits for a limit does not count.
    package var attemptsSent: Int { sent.load(ordering: .relaxed) }

    /// The number of an attempt that is handed to the engine, from 1. No two attempts have the same number, not even
    /// hedges that are sent at the same time.
    package func takeNumber() -> Int { numbers.wrappingAdd(1, ordering: .relaxed).newValue }

    /// An attempt has a good answer, which becomes the answer of the transfer. The others are cancelled after this call.
    package func attemptWon() { isWon.store(true, ordering: .relaxed) }

    /// Whether an attempt has won. An attempt that is cancelled after that has lost; one that is cancelled before that was
    /// cancelled by the caller.
    package var hasWinner: Bool { isWon.load(ordering: .relaxed) }

    /// When the last attempt was sent; `nil`: none was.
    package var lastSent: Duration? { lastTime.withLock { $0 } }

    /// The transfer has ended: further attempts are not wanted.
    package func end() { isOver.store(true, ordering: .relaxed) }

    /// Whether the transfer has ended.
    package var hasEnded: Bool { isOver.load(ordering: .relaxed) }
}
