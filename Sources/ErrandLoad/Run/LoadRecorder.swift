package import FoundationEssentials
import Synchronization

/// The ledger of a run with its lock. Any thread. Each method takes the lock once.
package final class LoadRecorder: Sendable {
    private let state: Mutex<LoadLedger>

    package init(_ ledger: LoadLedger) {
        state = Mutex(ledger)
    }

    /// Reads or changes the ledger.
    package func withLedger<Value: Sendable>(_ body: (inout LoadLedger) -> Value) -> Value {
        state.withLock { body(&$0) }
    }

    /// The first request of an iteration that has begun. `nil`: the run is over, and so is the iteration.
    func flight(_ iteration: LoadLedger.Iteration, _ now: UInt64) -> RequestSender.Flight? {
        state.withLock { ledger in
            if let flight = Self.flight(iteration, now, &ledger) { return flight }
            ledger.end(iteration, .interrupted)
            _ = ledger.next(iteration.scenario, iteration.user, now)
            return nil
        }
    }

    private static func flight(
        _ iteration: LoadLedger.Iteration, _ now: UInt64, _ ledger: inout LoadLedger
    ) -> RequestSender.Flight? {
        let (record, request) = ledger.weighted(iteration)
        // In the closed model a request is due when it is sent.
        let isOpen = ledger.scenarios[iteration.scenario].isOpen
        let (due, free) = isOpen ? (iteration.due, iteration.free) : (now, now)
        guard let ticket = ledger.begin(record, due: due, free: free, now) else { return nil }
        return RequestSender.Flight(iteration: iteration, ticket: ticket, request: request)
    }

    /// Counts a weighted request that has ended, and begins the next one of its user.
    func endAndBegin(
        _ flight: RequestSender.Flight, _ outcome: LoadOutcome, _ now: UInt64
    ) -> RequestSender.Flight? {
        state.withLock { ledger in
            ledger.end(flight.ticket, outcome, now)
            ledger.end(flight.iteration, outcome.iterationEnd)
            guard let next = ledger.next(flight.iteration.scenario, flight.iteration.user, now) else { return nil }
            if let flight = Self.flight(next, now, &ledger) { return flight }
            ledger.end(next, .interrupted)
            _ = ledger.next(next.scenario, next.user, now)
            return nil
        }
    }

    /// Ends an iteration of steps, and begins the next one of its user. `hasSent`: whether the iteration has sent a
    /// request.
    func end(
        _ iteration: LoadLedger.Iteration, _ ending: LoadLedger.IterationEnd, hasSent: Bool, leaves: Bool, text: String?
    ) -> LoadLedger.Iteration? {
        let now = LoadClock.now
        return state.withLock { ledger in
            // The result contains nothing of the warm-up.
            if let text, iteration.isCounted { ledger.note(text) }
            ledger.end(iteration, ending)
            if ending == .failed, !hasSent, !leaves { ledger.failedToStart(text, now) }
            guard !leaves else {
                ledger.leave(iteration)
                return nil
            }
            return ledger.next(iteration.scenario, iteration.user, now)
        }
    }

    package func result(_ plan: LoadPlan, start: Date) -> LoadResult {
        // A copy: its figures are added up outside of the lock.
        let ledger = withLedger { $0 }
        return ledger.result(plan, LoadClock.now, start: start)
    }
}

extension LoadOutcome {
    /// How an iteration that consists of this request ended.
    fileprivate var iterationEnd: LoadLedger.IterationEnd {
        switch ending {
        case .answered, .rejected: .completed
        case .failed, .timedOut, .refused: .failed
        case .cancelled: .interrupted
        }
    }
}
