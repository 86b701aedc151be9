import CoreMetrics
import Errand

/// The counts and states of a client's resilience as metrics. Any thread.
final class ResilienceMetrics: Sendable {
    private let retries: LabelSets<String, Counter>
    private let stops: LabelSets<String, Counter>
    private let hedges: LabelSets<String, Counter>
    private let refusals: LabelSets<String, Counter>
    private let transitions: LabelSets<String, Counter>
    private let waits: LabelSets<String, Counter>
    private let limits: LabelSets<LimitResult, Counter>
    private let breakers: LabelSets<BreakerState, HeldMeter>
    private let states: NamedMeters
    private let budgets: NamedMeters

    init(_ maker: MetricMaker, limit: Int) {
        func counters(_ name: String, _ label: String) -> LabelSets<String, Counter> {
            LabelSets(limit: limit) { maker.counter(name, maker.ofClient([(label, $0)])) }
        }
        retries = counters(MetricName.retries, "errand.retry.reason")
        stops = counters(MetricName.retriesStopped, "errand.retry.stop")
        hedges = counters(MetricName.hedges, "errand.hedge.result")
        refusals = counters(MetricName.refusals, "errand.refusal.by")
        transitions = counters(MetricName.breakerTransitions, "errand.breaker.state")
        waits = counters(MetricName.limitWaits, "errand.limit.kind")
        limits = LabelSets(limit: limit) { labels in
            maker.counter(
                MetricName.limits,
                maker.ofClient([("errand.limit.kind", labels.kind), ("errand.limit.result", labels.result)]))
        }
        breakers = LabelSets { state in
            maker.meter(MetricName.breakers, maker.ofClient([("errand.breaker.state", state.rawValue)]))
        } drop: {
            $0.close()
        }
        states = NamedMeters(limit: limit) { name in
            BreakerState.allCases.map { state in
                maker.meter(
                    MetricName.breakerState,
                    maker.ofClient([("errand.breaker.name", name), ("errand.breaker.state", state.rawValue)]))
            }
        }
        budgets = NamedMeters(limit: limit) { name in
            [maker.meter(MetricName.budget, maker.ofClient([("errand.budget.name", name)]))]
        }
    }

    /// `last`: what was recorded last; counters are incremented by the growth of the totals.
    func collect(_ parts: ResilienceParts, since last: inout ResilienceTotals) {
        let present = ResilienceTotals(parts)
        let other = HTTPConventions.other
        advance(retries, from: &last.retries, to: present.retries, other: other)
        advance(stops, from: &last.stops, to: present.stops, other: other)
        advance(hedges, from: &last.hedges, to: present.hedges, other: other)
        advance(refusals, from: &last.refusals, to: present.refusals, other: other)
        advance(transitions, from: &last.transitions, to: present.transitions, other: other)
        advance(waits, from: &last.waits, to: present.waits, other: other)
        for (id, limit) in present.limits {
            var results = last.limits[id]?.results ?? [:]
            advance(limits, from: &results, to: limit.results, other: LimitResult(kind: other, result: other))
        }
        last.limits = present.limits
    }

    /// Sets the meters.
    func set(_ parts: ResilienceParts) {
        set(parts.allBreakers)
        set(parts.allBudgets)
    }

    /// Closes the meters: the client is gone, and an open breaker would be reported as open for ever otherwise.
    func close() {
        for meter in breakers.removeAll() { meter.close() }
        states.set([])
        budgets.set([])
    }

    /// A counter without growth is made too: a rate needs its zero.
    private func advance<Key: Hashable & Sendable>(
        _ sets: LabelSets<Key, Counter>, from last: inout [Key: Int], to totals: [Key: Int], other: Key
    ) {
        for (key, total) in totals {
            sets.handles(key, otherwise: other).add(last[key, default: 0].rise(to: total))
        }
    }

    private func set(_ breakers: [CircuitBreaker]) {
        var counts: [BreakerState: Int] = [:]
        // The breakers of several policies may have the same name. The worst state is shown.
        var worst: [String: BreakerState] = [:]
        for breaker in breakers {
            let state = breaker.state
            counts[state, default: 0] += 1
            if let other = worst[breaker.name], other.badness >= state.badness { continue }
            worst[breaker.name] = state
        }
        for state in BreakerState.allCases {
            let count: Int = counts[state] ?? 0
            self.breakers.handles(state).meter.set(count)
        }
        states.set(
            worst.map { name, present in
                NamedMeters.Reading(
                    name: name, isUrgent: present != .closed,
                    values: BreakerState.allCases.map { $0 == present ? 1 : 0 })
            })
    }

    private func set(_ budgets: [(key: String, value: RetryBudget)]) {
        // The budgets of several policies may have the same name. The one with the fewest tokens is shown.
        var fewest: [String: Double] = [:]
        for (name, budget) in budgets {
            let available = Double(budget.available)
            fewest[name] = min(fewest[name] ?? available, available)
        }
        self.budgets.set(
            fewest.map { name, available in
                NamedMeters.Reading(name: name, isUrgent: available < 1, values: [available])
            })
    }
}

extension BreakerState {
    /// Orders the states by how many calls they refuse, and then by what an operator has set.
    fileprivate var badness: Int {
        switch self {
        case .closed: 0
        case .forcedClosed: 1
        case .disabled: 2
        case .halfOpen: 3
        case .open: 4
        case .forcedOpen: 5
        }
    }
}
