import Errand
import ErrandLoad
import FoundationEssentials

/// What the suites of the ledger share.
protocol LedgerTesting {}

extension LedgerTesting {
    /// When the load begins.
    var start: UInt64 { seconds(1000) }
    var answer: LoadOutcome { LoadOutcome(.answered(status: 200)) }

    /// A ledger whose load begins at ``start``.
    func ledger(_ plan: LoadPlan) -> LoadLedger {
        var ledger = LoadLedger(plan)
        ledger.start(at: start)
        return ledger
    }

    func result(_ ledger: LoadLedger, _ plan: LoadPlan, _ now: UInt64) -> LoadResult {
        ledger.result(plan, now, start: Date(timeIntervalSince1970: 0))
    }
}
