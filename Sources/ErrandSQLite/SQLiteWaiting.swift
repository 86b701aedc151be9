import Glibc

/// What counts the time that a call waits for others' locks, and spends it; a test brings its own.
struct SQLiteWaiting: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    var sleep: @Sendable (Duration) -> Void = { time in
        usleep(UInt32(clamping: time.components.seconds * 1_000_000 + time.components.attoseconds / 1_000_000_000_000))
    }
}

/// What a connection asks when it meets a lock. Used by one thread at a time.
final class SQLiteBusyHandler {
    /// `nil`: it does not wait.
    var deadline: ContinuousClock.Instant?
    private let waiting: SQLiteWaiting

    /// In milliseconds, one after the other, then the last again and again; as `sqlite3_busy_timeout` has them.
    private static let pauses: [Int64] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]

    init(_ waiting: SQLiteWaiting) { self.waiting = waiting }

    /// Waits, for the `count`-th time after the first. Whether the lock is to be tried again.
    func wait(_ count: Int) -> Bool {
        guard let deadline else { return false }
        let left = waiting.now().duration(to: deadline)
        guard left > .zero else { return false }
        waiting.sleep(min(left, .milliseconds(Self.pauses[min(count, Self.pauses.count - 1)])))
        return true
    }
}
