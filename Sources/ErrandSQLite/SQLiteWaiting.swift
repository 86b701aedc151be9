import Glibc

/// The clock and the sleep for waits on locks of other processes; tests replace them.
struct SQLiteWaiting: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    var sleep: @Sendable (Duration) -> Void = { time in
        usleep(UInt32(clamping: time.components.seconds * 1_000_000 + time.components.attoseconds / 1_000_000_000_000))
    }
}

/// The busy handler of a connection, which SQLite calls when a lock is held. Used by one thread at a time.
final class SQLiteBusyHandler {
    /// `nil`: the handler does not wait.
    var deadline: ContinuousClock.Instant?
    private let waiting: SQLiteWaiting

    /// The pauses in milliseconds, used in order; the last one repeats. The same as in `sqlite3_busy_timeout`.
    private static let pauses: [Int64] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]

    init(_ waiting: SQLiteWaiting) { self.waiting = waiting }

    /// Sleeps before retry number `count`, counted from 0. Returns whether the lock is to be tried again.
    func wait(_ count: Int) -> Bool {
        guard let deadline else { return false }
        let left = waiting.now().duration(to: deadline)
        guard left > .zero else { return false }
        waiting.sleep(min(left, .milliseconds(Self.pauses[min(count, Self.pauses.count - 1)])))
        return true
    }
}
