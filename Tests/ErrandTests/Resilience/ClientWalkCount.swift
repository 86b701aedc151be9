import Synchronization

/// Counts what has begun and what has ended.
final class ClientWalkCount: Sendable {
    private let starts = Atomic<Int>(0)
    private let over = Atomic<Int>(0)

    func begin() { starts.add(1, ordering: .relaxed) }
    func end() { over.add(1, ordering: .relaxed) }

    var begun: Int { starts.load(ordering: .relaxed) }
    var hasBegun: Bool { begun > 0 }
    var ended: Int { over.load(ordering: .relaxed) }
    var isSettled: Bool { ended == begun }
}
