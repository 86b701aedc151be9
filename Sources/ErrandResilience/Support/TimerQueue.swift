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
            state.wakes = due
            state.sleeper = sleep(until: due)
            return former
        }
        former?.cancel()
    }

    /// The task keeps neither the queue nor the items.
    private func sleep(until due: Duration) -> Task<Void, Never> {
        Task { [weak self, stopwatch] in
            let wait = min(max(due - stopwatch.now(), .zero), .longestSleep)
            // A cancelled sleep was replaced by an earlier one. A clock that fails must not lose the items.
            try? await stopwatch.sleep(for: wait)
            guard !Task.isCancelled else { return }
            self?.wake()
        }
    }

    private func wake() {
        let now = stopwatch.now()
        let items = state.withLock { state -> [Item] in
            var items: [Item] = []
            while let first = state.entries.min, first.due <= now {
                items.append(first.item)
                state.entries.removeMin()
            }
            state.sleeper = nil
            if let next = state.entries.min {
                state.wakes = next.due
                state.sleeper = sleep(until: next.due)
            }
            return items
        }
        for item in items { fire(item) }
    }
}
