import Synchronization

/// What the attempts of one transfer share: the endpoints that they have used, and whether they are hedges of each
/// other. Any thread.
package final class AttemptTrail: Sendable {
    /// Whether the attempts are hedges. Hedged attempts are not retried.
    package let isHedged: Bool
    private let tried = Mutex<Set<String>>([])
    private let hasDeposited = Atomic<Bool>(false)

    package init(isHedged: Bool) {
        self.isHedged = isHedged
    }

    /// The endpoints that attempts have used.
    package var endpoints: Set<String> { tried.withLock { $0 } }

    /// An attempt is sent to this endpoint.
    package func add(endpoint: String) {
        tried.withLock { _ = $0.insert(endpoint) }
    }

    /// Whether the caller deposits in the retry budget: true once.
    package func takeDeposit() -> Bool { !hasDeposited.exchange(true, ordering: .relaxed) }
}
