/// The results that the rates of a closed breaker are computed over: a ring of single calls, or of ten time buckets.
package struct BreakerWindow: Sendable {
    private var ring: [BreakerTally] = []
    private(set) var sum = BreakerTally()
    private let capacity: Int
    /// `nil`: each place of the ring is one call.
    private var buckets: SlotRing?
    /// The place of the next call, or the newest bucket.
    private var next = 0

    init(_ window: BreakerPolicy.Window) {
        switch window {
        case .count(let count): capacity = max(count, 1)
        case .time(let time):
            capacity = 10
            buckets = SlotRing(window: max(time, .milliseconds(1)), count: capacity)
            ring = [BreakerTally](repeating: BreakerTally(), count: capacity)
        }
    }

    /// Drops the buckets that are too old.
    mutating func advanced(to now: Duration) {
        // The newest bucket is ``next``.
        if buckets?.currentPlace(now) != nil { return }
        guard let (place, emptied) = buckets?.advance(to: now) else { return }
        for old in emptied {
            sum -= ring[old]
            ring[old] = BreakerTally()
        }
        next = place
    }

    /// A call ended that neither failed nor was slow.
    mutating func succeeded(now: Duration) {
        guard let buckets, buckets.isCurrent(now) else { return recorded(isFailure: false, isSlow: false, now: now) }
        sum.calls += 1
        ring[next].calls += 1
    }

    /// A call ended.
    mutating func recorded(isFailure: Bool, isSlow: Bool, now: Duration) {
        advanced(to: now)
        var call = BreakerTally()
        call.add(isFailure: isFailure, isSlow: isSlow)
        sum += call
        if buckets != nil {
            ring[next] += call
        } else if ring.count < capacity {
            ring.append(call)
        } else {
            sum -= ring[next]
            ring[next] = call
            next = (next + 1) % capacity
        }
    }
}
