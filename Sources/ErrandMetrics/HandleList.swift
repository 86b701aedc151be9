import Synchronization

/// A key of a list of few keys.
protocol ListKey: Equatable, Sendable {
    /// The key that is recorded instead if there are too many keys. There are only few such keys.
    var overflow: Self { get }
}

/// The handles of a metric, one for each key, for few keys. Keys are compared one after the other, and none is hashed.
/// Keys that were added first are found first. Any thread.
final class HandleList<Key: ListKey, Handles: AnyObject & Sendable>: Sendable {
    private struct Entry: Sendable {
        let key: Key
        let handles: Handles
    }

    /// The most keys. A server that answers with every status there is must not make each request compare hundreds.
    static var limit: Int { 40 }

    private let entries = Mutex<[Entry]>([])

    /// The handles of the key, or those of its ``ListKey/overflow``. The backend makes new handles outside of the lock.
    /// If two threads do so at the same time, the handles of the first are kept.
    func handles(_ key: Key, make: (Key) -> Handles) -> Handles {
        let (found, isFull) = entries.withLock { (Self.find(key, in: $0), $0.count >= Self.limit) }
        if let found { return found }
        let place = isFull ? key.overflow : key
        if isFull, let found = entries.withLock({ Self.find(place, in: $0) }) { return found }
        let made = make(place)
        return entries.withLock { entries in
            if let present = Self.find(place, in: entries) { return present }
            entries.append(Entry(key: place, handles: made))
            return made
        }
    }

    /// Forgets all handles, and returns them.
    func removeAll() -> [Handles] {
        entries.withLock { entries in
            defer { entries = [] }
            return entries.map(\.handles)
        }
    }

    private static func find(_ key: Key, in entries: [Entry]) -> Handles? {
        for entry in entries where entry.key == key { return entry.handles }
        return nil
    }
}
