/// The tokens of a retry budget: a sliding window of ten slots, each with its deposits and withdrawals.
///
/// The invariant: in the slots of the window, withdrawals are at most `ratio * deposits + floor * window`. Both sides
/// leave the window together with their slot, so unused deposits cannot be saved up.
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
    private var slots = [Slot](repeating: Slot(), count: slotCount)
    private var ring: SlotRing
    package private(set) var counts = RetryBudget.Counts()

    package init(_ policy: RetryBudget.Policy) {
        unitsPerDeposit = Int((policy.ratio * Double(Self.unit)).rounded())
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
        guard balance >= Self.unit else {
            counts.refusals &+= 1
            return false
        }
        slots[place].withdrawals += 1
        counts.withdrawals &+= 1
        return true
    }

    /// An extra send that was allowed is not made.
    package mutating func givenBack(now: Duration) {
        let place = advance(now)
        // From the newest slot on: the withdrawal may have left the window.
        for age in 0..<Self.slotCount {
            let index = (place + Self.slotCount - age) % Self.slotCount
            guard slots[index].withdrawals > 0 else { continue }
            slots[index].withdrawals -= 1
            counts.withdrawals &-= 1
            return
        }
    }

    /// The extra sends that would be allowed now.
    package mutating func available(now: Duration) -> Int {
        _ = advance(now)
        return max(0, balance / Self.unit)
    }

    /// In units; negative where deposits left the window before the withdrawals that they paid for.
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
        // Each withdrawal was covered when it was made, so the product is not larger than the sum.
        return income + reserve - withdrawals * Self.unit
    }

    /// Empties the slots that have left the window. Returns the place of the current slot.
    private mutating func advance(_ now: Duration) -> Int {
        let (current, emptied) = ring.advance(to: now)
        for place in emptied { slots[place] = Slot() }
        return current
    }
}
