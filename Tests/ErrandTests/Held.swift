import ErrandTesting
import Synchronization
import Testing

/// Something that a test lets others hold, and counts.
final class Held: Sendable {
    final class Count: Sendable {
        private let alive = Mutex(0)
        var now: Int { alive.withLock { $0 } }

        fileprivate func add(_ number: Int) { alive.withLock { $0 += number } }

        func make() -> Held { Held(self) }

        /// Waits until nobody holds anything any more; gives up after two minutes.
        func expectNone(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) async throws {
            try? await waitUntil("nothing is held") { now == 0 }
            #expect(now == 0, comment, sourceLocation: sourceLocation)
        }
    }

    private let count: Count

    private init(_ count: Count) {
        self.count = count
        count.add(1)
    }

    deinit { count.add(-1) }

    func touch() {}
}
