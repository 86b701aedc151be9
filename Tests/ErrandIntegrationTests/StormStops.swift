import Synchronization

/// Counts stops, so that one that is under way when a run begins is held to be able to end it.
final class StormStops: Sendable {
    private let asked = Atomic<Int>(0)
    private let returned = Atomic<Int>(0)

    func count(_ stop: () -> Void) {
        asked.add(1, ordering: .sequentiallyConsistent)
        stop()
        returned.add(1, ordering: .sequentiallyConsistent)
    }

    /// What to compare with later: those that are over, and can end nothing that begins now.
    var mark: Int { returned.load(ordering: .sequentiallyConsistent) }

    /// Whether there was one that a run may have ended by which began at that mark.
    func happened(since mark: Int) -> Bool { asked.load(ordering: .sequentiallyConsistent) > mark }
}
