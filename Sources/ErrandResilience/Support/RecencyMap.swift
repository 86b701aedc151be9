/// A bounded map that forgets what was not used for a time, and the least recently used values when it is full.
///
/// A full map drops an eighth of its values at once, so that the search for them is rare.
struct RecencyMap<Key: Hashable & Comparable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let value: Value
        var used: Duration
        /// Orders uses at the same time.
        var turn: UInt64
    }

    private var entries: [Key: Entry] = [:]
    private var turn: UInt64 = 0
    private let capacity: Int
    private let idleTime: Duration

    /// - Parameters:
    ///   - capacity: at least 1.
    ///   - idleTime: how long an unused value is kept at least, as long as the map is not full.
    init(capacity: Int, idleTime: Duration) {
        self.capacity = max(capacity, 1)
        self.idleTime = idleTime.clampedWait
    }

    var count: Int { entries.count }
    var values: [(key: Key, value: Value)] { entries.map { ($0.key, $0.value.value) } }

    /// The value, without a use of it.
    func peek(_ key: Key) -> Value? { entries[key]?.value }

    /// The value of a key, made where there is none. Counts as a use.
    mutating func value(_ key: Key, now: Duration, make: () -> Value) -> Value {
        var forgotten: [Value] = []
        return value(key, now: now, forgotten: &forgotten, make: make)
    }

    /// The same; `forgotten` gets the values that the map drops to make room.
    mutating func value(_ key: Key, now: Duration, forgotten: inout [Value], make: () -> Value) -> Value {
        turn &+= 1
        if let index = entries.index(forKey: key) {
            entries.values[index].used = now
            entries.values[index].turn = turn
            return entries.values[index].value
        }
        let horizon = now.clampedTime - idleTime
        let removed = entries.makeRoom(capacity: capacity, order: \.turn, isOver: { $0.used <= horizon })
        if !removed.isEmpty { forgotten += removed.map(\.value) }
        let value = make()
        entries[key] = Entry(value: value, used: now, turn: turn)
        return value
    }

    /// Forgets the value of a key, and returns it.
    mutating func removeValue(of key: Key) -> Value? { entries.removeValue(forKey: key)?.value }
}
