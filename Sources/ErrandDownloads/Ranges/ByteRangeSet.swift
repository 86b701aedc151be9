/// Ranges of a file: in order, not empty, neither overlapping nor touching.
struct ByteRangeSet: Sendable, Hashable {
    private(set) var ranges: [Range<Int64>] = []

    init() {}

    init(_ ranges: some Sequence<Range<Int64>>) {
        for range in ranges { insert(range) }
    }

    var isEmpty: Bool { ranges.isEmpty }
    /// The total number of bytes.
    var count: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }
    /// The position behind the last byte; 0 if there is none.
    var end: Int64 { ranges.last?.upperBound ?? 0 }
    /// The end of the range that starts at 0; 0 if there is none.
    var prefixEnd: Int64 { ranges.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0 }

    /// Inserts a range; positions below 0 are ignored.
    mutating func insert(_ range: Range<Int64>) {
        let range = range.clamped(to: 0..<Int64.max)
        guard !range.isEmpty else { return }
        // Writers append, so the new range usually touches the last one.
        var first = ranges.count
        while first > 0, ranges[first - 1].upperBound >= range.lowerBound { first -= 1 }
        var merged = range
        var last = first
        while last < ranges.count, ranges[last].lowerBound <= range.upperBound {
            merged = min(merged.lowerBound, ranges[last].lowerBound)..<max(merged.upperBound, ranges[last].upperBound)
            last += 1
        }
        ranges.replaceSubrange(first..<last, with: CollectionOfOne(merged))
    }

    mutating func formUnion(_ other: ByteRangeSet) {
        for range in other.ranges { insert(range) }
    }

    /// The part of the set below `end`.
    func clipped(to end: Int64) -> ByteRangeSet {
        ByteRangeSet(ranges.map { $0.clamped(to: 0..<max(0, end)) })
    }

    /// The missing ranges below `length`.
    func gaps(below length: Int64) -> ByteRangeSet {
        var gaps = ByteRangeSet()
        var position: Int64 = 0
        for range in ranges where position < length {
            if range.lowerBound > position { gaps.insert(position..<min(range.lowerBound, length)) }
            position = range.upperBound
        }
        if position < length { gaps.insert(position..<length) }
        return gaps
    }
}
