/// The permits of a half-open breaker: those under way, with their expiry, and the votes so far.
package struct BreakerProbes: Sendable {
    private let count: Int
    private let lifetime: Duration
    /// Expiry by the permit's number.
    private var underWay: [UInt64: Duration] = [:]
    /// When the oldest probe under way expires. Kept, because every call that is refused asks for it.
    private(set) var firstExpiry: Duration?
    package private(set) var tally = BreakerTally()

    init(count: Int, lifetime: Duration) {
        self.count = count
        self.lifetime = lifetime
    }

    /// Whether another call may probe.
    var hasRoom: Bool { underWay.count + tally.calls < count }

    mutating func issued(_ number: UInt64, now: Duration) {
        let expiry = now + lifetime
        underWay[number] = expiry
        firstExpiry = min(firstExpiry ?? expiry, expiry)
    }

    /// Returns whether the permit was under way. A permit is released once.
    mutating func released(_ number: UInt64) -> Bool {
        guard let expiry = underWay.removeValue(forKey: number) else { return false }
        if expiry == firstExpiry { firstExpiry = underWay.values.min() }
        return true
    }

    mutating func voted(isFailure: Bool, isSlow: Bool) {
        tally.add(isFailure: isFailure, isSlow: isSlow)
    }

    /// Counts the probes whose lifetime has passed as failed. Returns their number.
    mutating func expired(now: Duration) -> Int {
        guard let firstExpiry, firstExpiry <= now else { return 0 }
        let numbers = underWay.filter { $0.value <= now }.map(\.key)
        for number in numbers {
            underWay[number] = nil
            voted(isFailure: true, isSlow: false)
        }
        self.firstExpiry = underWay.values.min()
        return numbers.count
    }
}
