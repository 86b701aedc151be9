import Synchronization

/// A bounded table of options and the engine's objects for them, which forgets what was not used for long. Any thread.
///
/// A value that is used becomes a recent one. When there are as many recent values as the capacity, they become the
/// former values, and the former values until then are forgotten. The table therefore keeps the values that were used
/// last, at least as many as the capacity and at most twice as many, and a use of a recent value is one look-up. `Key`:
/// the options, or the options with whatever else tells the objects apart.
final class OptionsTable<Key: Hashable & Sendable>: Sendable {
    private typealias Values = [Key: OptionsSlot]

    private struct State: Sendable {
        let capacity: Int
        var recent: Values = [:]
        var former: Values = [:]

        /// Returns what is forgotten or replaced, so that it is released after the lock.
        mutating func add(_ slot: OptionsSlot, for options: Key) -> Dropped {
            var dropped = Dropped()
            if recent.count >= capacity {
                swap(&dropped.forgotten, &former)
                swap(&former, &recent)
            }
            dropped.replaced = recent.updateValue(slot, forKey: options)
            return dropped
        }
    }

    private struct Dropped: Sendable {
        var forgotten: Values = [:]
        var replaced: OptionsSlot?
    }

    private let state: Mutex<State>

    /// `capacity`: at least 1.
    init(capacity: Int) {
        state = Mutex(State(capacity: max(capacity, 1)))
    }

    /// The value of the options, which counts as a use; `nil`: there is none.
    func slot(for options: Key) -> OptionsSlot? {
        let (slot, dropped) = state.withLock { state -> (OptionsSlot?, Dropped?) in
            if let slot = state.recent[options] { return (slot, nil) }
            guard let slot = state.former.removeValue(forKey: options) else { return (nil, nil) }
            return (slot, state.add(slot, for: options))
        }
        _ = dropped
        return slot
    }

    /// Adds a value, or replaces the one of these options.
    func add(_ slot: OptionsSlot, for options: Key) {
        let dropped = state.withLock { $0.add(slot, for: options) }
        _ = dropped
    }

    /// All values.
    var slots: [OptionsSlot] { state.withLock { Array($0.recent.values) + Array($0.former.values) } }
}
