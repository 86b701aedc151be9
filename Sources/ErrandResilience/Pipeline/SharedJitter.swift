import Synchronization

/// A ``JitterSource`` that threads share.
final class SharedJitter: Sendable {
    private let source = Mutex(JitterSource())

    func next() -> Double { source.withLock { $0.next() } }
}
