import Errand
import ErrandTesting
import Testing

@testable import ErrandAuthentication
@testable import ErrandCaching
@testable import ErrandClient
@testable import ErrandModel
@testable import ErrandResilience

/// What a walk has left behind.
extension ClientWalk {
    private var parts: ResilienceParts? { client.resilience }
    private var endpoints: EndpointSet? { client.endpoints(of: settings.origin) }

    /// Open calls and permits by their place; empty: nothing is left.
    var remains: [String] {
        var counts: [(String, Int)] = [
            ("requests of the client", client.requests.count), ("transfers at the stub", stub.open.count),
            ("hedged calls", client.layer(HedgingTransport.self)?.count ?? 0),
            ("resilient calls", client.layer(ResilientTransport.self)?.count ?? 0),
            ("transfers that may be joined", client.coalescing.count),
            ("members of shared transfers", client.coalescing.memberCount),
            ("lookups of the cache", client.carrier.count),
            ("readers", ledger.sources.reduce(0) { $0 + $1.openNow }),
        ]
        counts.append(("transfers to alternatives", client.layer(AltServiceTransport.self)?.count ?? 0))
        let pending = endpoints?.statuses.reduce(0) { $0 + $1.pending } ?? 0
        counts.append(("requests at endpoints", pending))
        for key in Self.keys {
            counts.append(("permits of \(key)", parts?.concurrency?.inFlight(of: key) ?? 0))
            counts.append(("waiters of \(key)", parts?.concurrency?.waiting(of: key) ?? 0))
        }
        if let access {
            counts.append(("refreshes", access.authenticator.running))
            counts.append(("refreshes of the interceptor", access.interceptor.isRefreshing ? 1 : 0))
            counts.append(("waiters for a token", access.interceptor.waiterCount))
        }
        return counts.filter { $0.1 != 0 }.map { "\($0.1) \($0.0)" }
    }

    /// The body so far is a beginning of the source's: nothing of an earlier attempt is before it.
    func checkUpload(_ id: TransferID) {
        let bytes = stub.upload(of: id).bytes
        if !ClientWalkSource.body.starts(with: bytes) {
            Issue.record("\(story): \(id) has got \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    /// Each run has ended once, for each of its watchers.
    func checkEnds() {
        for ends in ledger.requests { #expect(ends.isEven, "\(story): \(ends.description)") }
        for ends in ledger.children { #expect(ends.isEvenInGroup, "\(story): \(ends.description)") }
        #expect(isAtRest, "\(story)")
        #expect(record.isBalanced, "\(story)")
        for source in ledger.sources where source.isAlone {
            #expect(source.most <= 1, "\(story): a request had \(source.most) readers at a time")
        }
    }

    /// The budgets have paid for what was sent, and for nothing else.
    func checkBudgets() {
        guard let parts, let budgets = parts.budgets else {
            Issue.record("\(story): the client has no budgets")
            return
        }
        let counts = parts.counts
        // An attempt that leaves its alternative arrives once more.
        let left = alternatives?.counts.left ?? 0
        #expect((counts.attempts...counts.attempts + left).contains(server.attempts), "\(story): \(counts)")
        let budgeted = Self.keys.map { budgets.budget(for: $0).counts }
        let deposits = budgeted.reduce(0) { $0 + $1.deposits }
        let withdrawals = budgeted.reduce(0) { $0 + $1.withdrawals }
        let charges = budgeted.reduce(0) { $0 + $1.charges }
        // What the server has got after the first attempt of a run to a service: retries and hedges, redirects and replays,
        // and what has left an alternative that had got it. An alternative that was not reached has got nothing: its attempt
        // and the one at the origin after it are paid for once, unless no attempt followed.
        let extra = server.attempts - server.exemptAttempts - deposits
        let sums = "\(deposits) deposits, \(withdrawals) withdrawals, \(counts)"
        #expect(withdrawals <= counts.retries.values.reduce(0, +) + counts.hedges + charges, "\(story): \(sums)")
        #expect((withdrawals...withdrawals + server.unreached).contains(extra), "\(story): \(sums)")
        checkHedges(counts)
    }

    private func checkHedges(_ counts: ResilienceParts.Counts) {
        guard let parts, let hedge = settings.resilience.hedge else {
            #expect(counts.hedges == 0, "\(story)")
            return
        }
        let own = Self.keys.reduce(0) { $0 + parts.hedgeTracker(for: $1, hedge).budget.counts.withdrawals }
        #expect(own == (hedge.isDryRun ? counts.wouldHedge : counts.hedges), "\(story)")
    }

    /// Each attempt has got an endpoint. In a dry run nothing was refused, delayed, ejected or hedged.
    func checkParts() {
        #expect((endpoints != nil) == settings.hasEndpoints, "\(story)")
        #expect(endpoints?.counts.refused ?? 0 == 0, "\(story)")
        guard settings.isDryRun, let parts else { return }
        let counts = parts.counts
        #expect(counts.refusedByBreaker == 0 && counts.refusedByLimit == 0, "\(story): \(counts)")
        #expect(counts.waitsForConcurrency == 0 && counts.waitsForRate == 0, "\(story): \(counts)")
        #expect(counts.hedges == 0 && counts.hedgesRefused == 0 && counts.losers == 0, "\(story): \(counts)")
        #expect(counts.notRetried[.budgetExhausted] == nil, "\(story): \(counts)")
        #expect(endpoints?.counts.ejections ?? 0 == 0, "\(story)")
        for (key, budget) in parts.budgets?.all ?? [] { #expect(budget.counts.refusals == 0, "\(story): \(key)") }
    }

    /// No probe of a half-open breaker is under way.
    func checkProbes() {
        guard let parts, let breakers = parts.breakers else { return }
        for breaker in breakers.all {
            #expect(breaker.counts.expired == 0, "\(story)")
            guard breaker.state == .halfOpen else { continue }
            let voted = breaker.tally.calls
            let now = parts.stopwatch.now()
            var permits: [BreakerMachine.Permit] = []
            // A dry run lets further calls pass, and does not count them.
            while permits.count < breaker.policy.halfOpenPermits, let permit = try? breaker.issue(now: now),
                permit.isCounted
            {
                permits.append(permit)
            }
            for permit in permits { breaker.released(permit, .ignored, now: now) }
            let underWay = breaker.policy.halfOpenPermits - voted - permits.count
            #expect(underWay == 0, "\(story): probes of \(breaker.name)")
        }
    }
}
