/// A bounded table with a part for each policy. It remembers the policies that were used last.
///
/// A full table drops an eighth of its parts at once, so that the search for them is rare. A dropped part that is in
/// use goes on; its policy begins anew with another part.
struct PolicyTable<Policy: Hashable & Sendable, Part: Sendable>: Sendable {
    private struct Entry: Sendable {
        let part: Part
        /// Orders the uses.
        var turn: UInt64
    }

    private var entries: [Policy: Entry] = [:]
    private var turn: UInt64 = 0

    /// The most policies that are remembered.
    static var capacity: Int { 64 }

    var count: Int { entries.count }
    var parts: [Part] { entries.values.map { $0.part } }

    /// The part of a policy, made where there is none. Counts as a use.
    mutating func part(of policy: Policy, make: () -> Part) -> Part {
        part(of: policy, isKept: { _ in false }, make: make)
    }

    /// The same. A full table drops parts that are kept (`isKept`) only where it has no others.
    mutating func part(of policy: Policy, isKept: (Part) -> Bool, make: () -> Part) -> Part {
        turn &+= 1
        if let index = entries.index(forKey: policy) {
            entries.values[index].turn = turn
            return entries.values[index].part
        }
        if entries.count >= Self.capacity { removeLongestUnused(isKept) }
        let part = make()
        entries[policy] = Entry(part: part, turn: turn)
        return part
    }

    private mutating func removeLongestUnused(_ isKept: (Part) -> Bool) {
        let ranked = entries.sorted { $0.value.turn < $1.value.turn }
        let free = ranked.filter { !isKept($0.value.part) }
        for old in (free.isEmpty ? ranked : free).prefix(Self.capacity / 8) { entries[old.key] = nil }
    }
}
