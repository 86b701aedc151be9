/// Points of a circle that belong to members by weight (ketama). A key belongs to the first point at or after its hash.
struct HashRing: Sendable {
    /// Sorted by hash.
    private let points: [(hash: UInt64, member: Int)]

    /// `names` and `weights` of the members; about `size` points, at least one for each member.
    init(_ members: [(name: String, weight: Int)], size: Int) {
        let total = members.reduce(0) { $0 + $1.weight }
        var points: [(hash: UInt64, member: Int)] = []
        for (index, member) in members.enumerated() {
            let count = max(1, size * member.weight / max(1, total))
            for point in 0..<count { points.append((Self.hash("\(member.name)#\(point)"), index)) }
        }
        self.points = points.sorted { ($0.hash, $0.member) < ($1.hash, $1.member) }
    }

    /// The first member that `accepts` takes, in the order of the circle from the hash on; each member is tried once.
    /// `nil`: it takes none.
    func member(at hash: UInt64, count: Int, where accepts: (Int) -> Bool) -> Int? {
        var low = 0
        var high = points.count
        while low < high {
            let middle = (low + high) / 2
            if points[middle].hash < hash { low = middle + 1 } else { high = middle }
        }
        var seen: Set<Int> = []
        for step in 0..<points.count where seen.count < count {
            let member = points[(low + step) % points.count].member
            if seen.insert(member).inserted, accepts(member) { return member }
        }
        return nil
    }

    /// FNV-1a, with the last step of SplitMix64 against its weakness in the high bits. The same in every process.
    static func hash(_ text: String) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
        hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
        return hash ^ (hash >> 31)
    }
}
