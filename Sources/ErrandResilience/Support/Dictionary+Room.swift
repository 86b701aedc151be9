extension Dictionary where Key: Comparable {
    /// Makes room in a full map: removes the values that are over, and at least the first eighth of all by `order`.
    ///
    /// A removal looks at all values. Because it makes room for an eighth of the capacity, it is rare, whatever the
    /// number of values that are over. Returns what was removed.
    @discardableResult
    mutating func makeRoom<Order: Comparable>(
        capacity: Int, order: (Value) -> Order, isOver: (Value) -> Bool
    ) -> [Value] {
        guard count >= capacity else { return [] }
        let room = Swift.max(1, capacity / 8)
        let ranked = map { (key: $0.key, order: order($0.value), isOver: isOver($0.value)) }
            .sorted { ($0.order, $0.key) < ($1.order, $1.key) }
        var removed: [Value] = []
        for (index, old) in ranked.enumerated() where index < room || old.isOver {
            if let value = removeValue(forKey: old.key) { removed.append(value) }
        }
        return removed
    }
}
