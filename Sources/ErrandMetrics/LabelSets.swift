import Synchronization

/// The handles of a metric, one for each label set. Any thread.
final class LabelSets<Key: Hashable & Sendable, Handles: Sendable>: Sendable {
    private let limit: Int
    private let make: @Sendable (Key) -> Handles
    /// Called with handles that are not kept.
    private let drop: @Sendable (Handles) -> Void
    private let sets = Mutex<[Key: Handles]>([:])

    /// `limit`: the most sets; by default any number, for keys that are bounded themselves.
    init(
        limit: Int = .max, make: @escaping @Sendable (Key) -> Handles,
        drop: @escaping @Sendable (Handles) -> Void = { _ in }
    ) {
        self.limit = limit
        self.make = make
        self.drop = drop
    }

    func handles(_ key: Key) -> Handles {
        if let found = sets.withLock({ $0[key] }) { return found }
        return added(key)
    }

    /// Forgets all handles, and returns them.
    func removeAll() -> [Handles] {
        sets.withLock { sets in
            defer { sets = [:] }
            return Array(sets.values)
        }
    }

    /// `other`: the labels that are used if there are too many sets.
    func handles(_ key: Key, otherwise other: Key) -> Handles {
        let (found, isFull) = sets.withLock { ($0[key], $0.count >= limit) }
        if let found { return found }
        return isFull ? handles(other) : added(key)
    }

    /// The backend makes the handles outside of the lock. If two threads do so at the same time, the handles of the
    /// first are kept.
    private func added(_ key: Key) -> Handles {
        let made = make(key)
        let present = sets.withLock { sets -> Handles? in
            if let present = sets[key] { return present }
            sets[key] = made
            return nil
        }
        guard let present else { return made }
        drop(made)
        return present
    }
}
