import Errand
import Testing

/// What the refreshes of a walk have done to the rest of the client.
extension ClientWalk {
    /// Nothing has happened that must not, and a 401 is neither retried nor held against the server.
    func checkRefreshes() {
        let parts = client.resilience
        #expect(parts?.counts.retries["status401"] == nil, "\(story)")
        guard let access, let own = settings.access else { return }
        for fault in Set(access.faults.all).sorted() { Issue.record("\(story): \(fault)") }
        for ends in ledger.requests + ledger.children {
            for fault in ends.miscounts { Issue.record("\(story): \(fault)") }
        }
        if own.isServerSound, let parts { checkSoundness(of: parts) }
    }

    /// The server has failed no request, and has only refused tokens. So nothing was retried, no breaker has opened, and
    /// the budgets have paid for hedges alone: see ``checkBudgets()``.
    private func checkSoundness(of parts: ResilienceParts) {
        let counts = parts.counts
        #expect(counts.retries.isEmpty, "\(story): \(counts)")
        #expect(counts.refusedByBreaker == 0, "\(story)")
        for breaker in parts.breakers?.all ?? [] {
            #expect(breaker.state == .closed && breaker.counts.openings == 0, "\(story): \(breaker.name)")
            #expect(breaker.tally.failures == 0, "\(story): \(breaker.name)")
        }
    }
}
