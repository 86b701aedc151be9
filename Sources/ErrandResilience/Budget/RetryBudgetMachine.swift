/// The tokens of a retry budget: a sliding window of ten slots, each with its deposits and withdrawals.
///
/// The invariant: a token is granted only while the withdrawals in the slots of the window stay at most
/// `ratio * deposits + floor * window`. Both sides leave the window together with their slot, so unused deposits cannot be
/// saved up, and the debt of charges that found no token is forgotten after the window.
package struct RetryBudgetMachine: Sendable {
    private struct Slot: Sendable {
        var deposits = 0
        var withdrawals = 0
    }

    package static let slotCount = 10
    /// Units of one extra send. Whole numbers keep ten deposits of 0.1 exact.
    private static let unit = 1_000_000

    private let unitsPerDeposit: Int
    private let reserve: Int
    private let isDryRun: Bool
    private var slots = [Slot](repeating: Slot(), count: slotCount)
    private var ring: SlotRing
    package private(set) var counts = RetryBudget.Counts()

    package init(_ policy: RetryBudget.Policy) {
        unitsPerDeposit = Int((policy.ratio * Double(Self.unit)).rounded())
        isDryRun = policy.isDryRun
        let seconds = policy.window / .seconds(1)
        // At most 1,000,000/s for an hour: 3.6e15 units.
        reserve = Int((policy.floorPerSecond * seconds * Double(Self.unit)).rounded())
        ring = SlotRing(window: policy.window, count: Self.slotCount)
    }

    /// A request is sent for the first time.
    package mutating func deposited(now: Duration) {
        let place = advance(now)
        slots[place].deposits += 1
        counts.deposits &+= 1
    }

    /// An extra send is wanted. Returns whether it is allowed, and then counts it.
    package mutating func withdrawalWanted(now: Duration) -> Bool {
        let place = advance(now)
        if balance < Self.unit {
            guard isDryRun else {
                counts.refusals &+= 1
                return false
            }
            counts.wouldRefuse &+= 1
        }
        slots[place].withdrawals += 1
        counts.withdrawals &+= 1
        return true
    }

    /// The first send that had deposited was not made. `made`: when it deposited.
    package mutating func depositReturned(now: Duration, made: Duration) {
        _ = advance(now)
        if counts.deposits > 0 { counts.deposits &-= 1 }
        if let place = ring.place(of: made), slots[place].deposits > 0 { slots[place].deposits -= 1 }
    }

    /// An extra send is made that takes no token.
    package mutating func counted() {
        counts.withdrawals &+= 1
        counts.charges &+= 1
    }

    /// An extra send that was counted is not made.
    package mutating func countReturned() {
        guard counts.charges > 0 else { return }
        counts.charges &-= 1
        if counts.withdrawals > 0 { counts.withdrawals &-= 1 }
    }

    /// An extra send is made, whether or not there is a token for it.
    package mutating func charged(now: Duration) {
        let place = advance(now)
        slots[place].withdrawals += 1
        counts.withdrawals &+= 1
        counts.charges &+= 1
    }

    /// An extra send that was charged is not made. `taken`: when it was charged; `nil`: not known.
    package mutating func chargeReturned(now: Duration, taken: Duration? = nil) {
        guard counts.charges > 0 else { return }
        counts.charges &-= 1
        givenBack(now: now, taken: taken)
    }

    /// An extra send that was allowed is not made. `taken`: when it was allowed; `nil`: not known, but within the window.
    package mutating func givenBack(now: Duration, taken: Duration? = nil) {
        let place = advance(now)
        if counts.withdrawals > 0 { counts.withdrawals &-= 1 }
        if let taken {
            // A withdrawal that has left the window is forgotten already. The newest withdrawal is another send's.
            if let own = ring.place(of: taken), slots[own].withdrawals > 0 { slots[own].withdrawals -= 1 }
            return
        }
        for age in 0..<Self.slotCount {
            let index = (place + Self.slotCount - age) % Self.slotCount
            guard slots[index].withdrawals > 0 else { continue }
            slots[index].withdrawals -= 1
            return
        }
    }

    /// The extra sends that would be allowed now.
    package mutating func available(now: Duration) -> Int {
        _ = advance(now)
        return max(0, balance / Self.unit)
    }

    /// In units; negative where deposits left the window before the withdrawals that they paid for, and after charges that
    /// found no token.
    private var balance: Int {
        var deposits = 0
        var withdrawals = 0
        for slot in slots {
            deposits += slot.deposits
            withdrawals += slot.withdrawals
        }
        // At most 10^7 units a deposit: no overflow below 9 * 10^11 requests in one window.
        let (paid, overflows) = deposits.multipliedReportingOverflow(by: unitsPerDeposit)
        let income = overflows ? Int.max / 2 : min(paid, Int.max / 2)
        // A granted withdrawal was covered when it was made, so the product is not larger than the sum. In a dry run,
        // or with charges, the product overflows only after 9 * 10^12 extra sends in one window.
        return income + reserve - withdrawals * Self.unit
    }

    /// Empties the slots that have left the window. Returns the place of the current slot.
    private mutating func advance(_ now: Duration) -> Int {
        if ring.isCurrent(now) { return ring.newestPlace }
        let (current, emptied) = ring.advance(to: now)
        for place in emptied { slots[place] = Slot() }
        return current
    }
}
