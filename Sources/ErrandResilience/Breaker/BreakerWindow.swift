/// The results that the rates of a closed breaker are computed over: a ring of single calls, or of ten time buckets.
package struct BreakerWindow: Sendable {
    static let bucketCount = 10

    private var ring: [BreakerTally] = []
    private(set) var sum = BreakerTally()
    private let capacity: Int
    /// `nil`: each place of the ring is one call.
    private let bucketTime: Duration?
    /// The place of the next call.
    private var next = 0
    /// The number of the newest bucket.
    private var newest: Int?

    init(_ window: BreakerPolicy.Window) {
        switch window {
        case .count(let count):
            capacity = max(count, 1)
            bucketTime = nil
        case .time(let time):
            capacity = Self.bucketCount
            bucketTime = max(time, .milliseconds(1)) / Self.bucketCount
            ring = [BreakerTally](repeating: BreakerTally(), count: Self.bucketCount)
        }
    }

    /// Drops the buckets that are too old. A clock that goes backwards stays in the newest bucket.
    mutating func advanced(to now: Duration) {
        guard let bucketTime else { return }
        let number = now.slot(bucketTime)
        let former = newest ?? number
        let current = max(former, number)
        for step in 0..<min(current - former, Self.bucketCount) {
            let place = Self.place(current - step)
            sum -= ring[place]
            ring[place] = BreakerTally()
        }
        newest = current
    }

    /// A call ended.
    mutating func recorded(isFailure: Bool, isSlow: Bool, now: Duration) {
        advanced(to: now)
        var call = BreakerTally()
        call.add(isFailure: isFailure, isSlow: isSlow)
        sum += call
        if bucketTime != nil {
            ring[Self.place(newest ?? 0)] += call
        } else if ring.count < capacity {
            ring.append(call)
        } else {
            sum -= ring[next]
            ring[next] = call
            next = (next + 1) % capacity
        }
    }

    private static func place(_ number: Int) -> Int {
        let rest = number % bucketCount
        return rest < 0 ? rest + bucketCount : rest
    }
}
