import ErrandTesting
import Synchronization

/// The clock of a walk, for the timeouts of refreshes: it counts those that have expired.
final class ClientWalkTimer: Clock {
    typealias Duration = Swift.Duration
    typealias Instant = ManualClock.Instant

    private let clock: ManualClock
    private let count = Atomic<Int>(0)

    init(_ clock: ManualClock) {
        self.clock = clock
    }

    /// The timeouts that have expired.
    var expired: Int { count.load(ordering: .relaxed) }

    var now: Instant { clock.now }
    var minimumResolution: Duration { clock.minimumResolution }

    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await clock.sleep(until: deadline, tolerance: tolerance)
        count.add(1, ordering: .relaxed)
    }
}
