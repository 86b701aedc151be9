import HeapModule
import Synchronization

/// Calls back at given times, with one task for all of them. The task exists while a time is outstanding.
///
/// An item cannot be removed: it fires when nobody wants it any more, and is kept until then.
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
    private let fire: @Sendable (Item) -> Void

    /// `fire`: called on any thread, for one item after the other.
    init(_ stopwatch: Stopwatch, fire: @escaping @Sendable (Item) -> Void) {
        self.stopwatch = stopwatch
        self.fire = fire
    }

    deinit {
        state.withLock { $0.sleeper.take() }?.cancel()
    }

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
        let items = state.withLock { state -> [Item] in
            guard number == state.lastSleeper else { return [] }
            var items: [Item] = []
            while let first = state.entries.min, first.due <= now {
                items.append(first.item)
                state.entries.removeMin()
            }
            state.sleeper = nil
            if let next = state.entries.min { sleep(until: next.due, &state) }
            return items
        }
        for item in items { fire(item) }
    }
}
