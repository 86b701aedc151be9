/// The permits of a half-open breaker: those under way, with their expiry, and the votes so far.
package struct BreakerProbes: Sendable {
    private struct Probe: Sendable {
        let expiry: Duration
        /// Whether the call waits and was not sent yet.
        var isHeld = false
    }

    private let count: Int
    private let lifetime: Duration
    /// By the permit's number.
    private var underWay: [UInt64: Probe] = [:]
    /// When the oldest probe under way expires. Stored, because every refused call needs it.
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
        underWay[number] = Probe(expiry: expiry)
        firstExpiry = min(firstExpiry ?? expiry, expiry)
    }

    /// The call waits before it is sent.
    mutating func held(_ number: UInt64) {
        underWay[number]?.isHeld = true
    }

    /// The call is sent now, after a wait: its lifetime begins. Returns whether the permit was under way.
    mutating func sent(_ number: UInt64, now: Duration) -> Bool {
        guard underWay[number] != nil else { return false }
        underWay[number] = Probe(expiry: now + lifetime)
        firstExpiry = nextExpiry
        return true
    }

    /// Returns whether the permit was under way. A permit is released once.
    mutating func released(_ number: UInt64) -> Bool {
        guard let probe = underWay.removeValue(forKey: number) else { return false }
        if probe.expiry == firstExpiry { firstExpiry = nextExpiry }
        return true
    }

    mutating func voted(isFailure: Bool, isSlow: Bool) {
        tally.add(isFailure: isFailure, isSlow: isSlow)
    }

    /// Removes the probes whose lifetime has passed. Returns how many of them were sent: these count as failed. The
    /// others have only waited in this client, which says nothing about the endpoint.
    mutating func expired(now: Duration) -> Int {
        guard let firstExpiry, firstExpiry <= now else { return 0 }
        let expired = underWay.filter { $0.value.expiry <= now }
        for number in expired.keys { underWay[number] = nil }
        self.firstExpiry = nextExpiry
        let failed = expired.values.count { !$0.isHeld }
        for _ in 0..<failed { voted(isFailure: true, isSlow: false) }
        return failed
    }

    private var nextExpiry: Duration? { underWay.values.lazy.map(\.expiry).min() }
}
