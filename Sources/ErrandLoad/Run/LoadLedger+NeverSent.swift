extension LoadLedger {
    /// Up to this many arrivals that never began are counted one by one. More are counted by the integral of the rate,
    /// because the lock is held meanwhile, and there may be thousands of millions of them.
    static let mostCounted = 100_000.0
    /// The number of time slices. The arrivals of a slice are counted together, and their waits are exact to its
    /// length.
    private static let slices: UInt64 = 1000

    /// Whether arrivals that were due before the end could still be sent.
    var hasLateArrivals: Bool {
        scenarios.contains { scenario in
            guard let due = scenario.arrival?.due, !scenario.isAtWarmUp else { return false }
            return origin + due < closing && scenario.hasFreeUser && left != 0
        }
    }

    /// Counts the arrivals that were due before the end and did not begin, with the time that they waited.
    mutating func countNeverSent(_ now: UInt64) {
        guard origin < closing else { return }
        for scenario in scenarios.indices where scenarios[scenario].isOpen {
            scenarios[scenario].endWarmUp()
            guard let cursor = scenarios[scenario].cursor else { continue }
            if cursor.estimate(before: closing - origin) > Self.mostCounted {
                countTogether(scenario, cursor, now)
            } else {
                countEach(scenario, now)
            }
        }
    }

    private mutating func countEach(_ scenario: Int, _ now: UInt64) {
        while let arrival = scenarios[scenario].arrival, origin + arrival.due < closing, left != 0 {
            let due = origin + arrival.due
            let place: Int
            if scenarios[scenario].firstWeighted != nil {
                let iteration = Iteration(
                    scenario: scenario, user: 0, number: arrival.number, due: due, free: due, isCounted: true)
                place = weighted(iteration).record
            } else {
                place = recordOfSteps(scenario)
            }
            neverSent(1, of: place, waited: now > due ? now - due : 0)
            scenarios[scenario].statistics.neverStarted += 1
            scenarios[scenario].advance()
        }
    }

    /// Counts many arrivals at once, divided among the names by weight.
    private mutating func countTogether(_ scenario: Int, _ cursor: ArrivalCursor, _ now: UInt64) {
        guard let first = cursor.due else { return }
        let end = closing - origin
        let step = max(1, (end - first) / Self.slices)
        var counted: UInt64 = 0
        var start = first
        while start < end {
            let next = min(end, start + step)
            var total = cursor.count(before: next)
            if let left { total = min(total, counted + left) }
            let middle = origin + start + (next - start) / 2
            let waited = now > middle ? now - middle : 0
            if total > counted {
                if let weighted = scenarios[scenario].firstWeighted {
                    for (request, count) in scenarios[scenario].choices(counted..<total).enumerated() {
                        neverSent(count, of: weighted + request, waited: waited)
                    }
                } else {
                    neverSent(total - counted, of: recordOfSteps(scenario), waited: waited)
                }
                scenarios[scenario].statistics.neverStarted += total - counted
                counted = total
            }
            start = next
        }
    }

    /// Requests of steps that did not begin have no name: they count for the first name.
    private mutating func recordOfSteps(_ scenario: Int) -> Int {
        scenarios[scenario].firstRecord ?? record(scenario, named: "iteration")
    }
}
