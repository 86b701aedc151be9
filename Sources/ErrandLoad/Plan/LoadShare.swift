/// The part of a plan that one of several machines runs: every `count`-th arrival, user and line of data, beginning
/// with number `index` (from 0). All shares together are exactly the plan.
public struct LoadShare: Sendable, Hashable, Codable {
    /// From 0.
    public let index: Int
    /// At least 1.
    public let count: Int

    /// The whole plan.
    public static let whole = LoadShare(unchecked: 0, of: 1)

    private init(unchecked index: Int, of count: Int) {
        self.index = index
        self.count = count
    }

    /// Share `number` (from 1) of `count`: `2/4` on the command line; `nil` for numbers out of range (at most 10,000
    /// shares).
    public init?(number: Int, of count: Int) {
        guard (1...10_000).contains(count), (1...count).contains(number) else { return nil }
        self.init(unchecked: number - 1, of: count)
    }
}
