import HeapModule
import Synchronization

/// Calls back at given times, with one task for all of them. The task exists while a time is outstanding.
///
/// An item cannot be removed. An item that is not wanted any more does not fire. Each wake-up drops all such items at
/// the front. Most timers of hedges are such items, thousands a second: their calls have ended.
final class TimerQueue<Item: Sendable>: Sendable {
    private struct Entry: Comparable, Sendable {
        let due: Duration
        let number: UInt64
        let item: Item

        static func < (one: Entry, other: Entry) -> Bool { (one.due, one.number) < (other.due, other.number) }
        static func == (one: Entry, other: Entry) -> Bool { one.number == other.number }
    }

    private struct State: ~Copyable {
        var entries = Heap<Entry>()
        var lastNumber: UInt64 = 0
        /// Sleeps until `wakes`; `nil`: nothing is outstanding.
        var sleeper: Task<Void, Never>?
        var wakes = Duration.zero
        /// The number of the present sleeper: one that was replaced may wake all the same.
        var lastSleeper: UInt64 = 0

        /// Forgets what is outstanding.
        mutating func clear() -> Heap<Entry> {
            defer { entries = Heap() }
            return entries
        }
    }

    private let state = Mutex(State())
    private let stopwatch: Stopwatch
    private let isWanted: @Sendable (Item) -> Bool
    private let fire: @Sendable (Item) -> Void

    /// `isWanted`: called under the queue's lock; once false, it stays false. `fire`: called on any thread, for one item
    /// after the other.
    init(
        _ stopwatch: Stopwatch, isWanted: @escaping @Sendable (Item) -> Bool = { _ in true },
        fire: @escaping @Sendable (Item) -> Void
    ) {
        self.stopwatch = stopwatch
        self.isWanted = isWanted
        self.fire = fire
    }

    deinit {
        state.withLock { $0.sleeper.take() }?.cancel()
    }

    /// The items that are kept.
    var count: Int { state.withLock { $0.entries.count } }

    /// Calls back for `item` at `due`, a reading of the stopwatch.
    func add(_ item: Item, at due: Duration) {
        let former = state.withLock { state -> Task<Void, Never>? in
            state.lastNumber += 1
            state.entries.insert(Entry(due: due, number: state.lastNumber, item: item))
            guard state.sleeper == nil || due < state.wakes else { return nil }
            let former = state.sleeper
            sleep(until: due, &state)
            return former
        }
        former?.cancel()
    }

    /// Nothing that is outstanding fires any more.
    func removeAll() {
        let (sleeper, entries) = state.withLock { state in
            state.lastSleeper += 1
            return (state.sleeper.take(), state.clear())
        }
        sleeper?.cancel()
        // Released here, not under the lock: an item may hold a user's value.
        withExtendedLifetime(entries) {}
    }

    /// Detached: the task serves all items, so it must not have the task-local values, such as a deadline, of the caller
    /// that added the first one. The task keeps neither the queue nor the items.
    private func sleep(until due: Duration, _ state: inout State) {
        state.lastSleeper += 1
        let number = state.lastSleeper
        state.wakes = due
        state.sleeper = Task.detached { [weak self, stopwatch] in
            let wait = min(max(due - stopwatch.now(), .zero), .longestSleep)
            do {
                try await stopwatch.sleep(for: wait)
            } catch {
                guard !Task.isCancelled else { return }
                // The clock has failed. The items fire late rather than never.
                try? await Task.sleep(for: .milliseconds(10))
            }
            self?.wake(number)
        }
    }

    private func wake(_ number: UInt64) {
        let now = stopwatch.now()
        // Items are released outside of the lock, those that do not fire too.
        let (items, unwanted) = state.withLock { state -> ([Item], [Item]) in
            guard number == state.lastSleeper else { return ([], []) }
            var items: [Item] = []
            var unwanted: [Item] = []
            while let first = state.entries.min {
                if !isWanted(first.item) {
                    unwanted.append(first.item)
                } else if first.due <= now {
                    items.append(first.item)
                } else {
                    break
                }
                state.entries.removeMin()
            }
            state.sleeper = nil
            if let next = state.entries.min { sleep(until: next.due, &state) }
            return (items, unwanted)
        }
        for item in items { fire(item) }
        withExtendedLifetime(unwanted) {}
    }
}
