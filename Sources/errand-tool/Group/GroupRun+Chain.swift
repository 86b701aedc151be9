import Errand
import Synchronization

extension GroupRun {
    /// Runs the requests one after another as a chain.
    func chain(keepsGoing: Bool) async -> [RequestOutcome] {
        let ledger = ChainLedger(self)
        let steps = plan.requests.indices.map { index in
            ChainStep(
                make: { _ in try ledger.make(index) },
                then: { turn in ledger.ended(index, .success(turn.value), turn.request.response) },
                onFailure: { error, _ in
                    ledger.ended(index, .failure(error), error.response)
                    return keepsGoing ? .skip : .abort
                })
        }
        // The result is ignored, because the ledger has the outcomes.
        _ = try? await client.run(Chain(steps))
        return ledger.outcomes
    }
}

/// The outcomes of a chain's requests while the chain runs: for requests that refer to earlier ones, and for the table.
private final class ChainLedger: Sendable {
    private let run: GroupRun
    private let entries: Mutex<[RequestOutcome]>
    /// The command of the running step; `nil`: the command could not be made.
    private let command = Mutex<HTTPFileCommand?>(nil)

    private var plan: HTTPFilePlan { run.plan }

    init(_ run: GroupRun) {
        self.run = run
        entries = Mutex(
            run.plan.requests.map { request in
                var outcome = RequestOutcome(request)
                outcome.failure = .notRun
                return outcome
            })
    }

    var outcomes: [RequestOutcome] { entries.withLock { $0 } }

    /// Makes the command of a step when the step starts.
    func make(_ index: Int) throws -> HTTPFileCommand {
        let planned = plan.requests[index]
        command.withLock { $0 = nil }
        do {
            let command = try planned.maker.make(planned.request)
            if let name = planned.request.name { planned.maker.variables.record(command.exchange, of: name) }
            // A chain that is stopped does not report its running step, so the step's outcome is set to stopped in
            // advance.
            replace(index, RequestOutcome(command, planned), .stopped)
            self.command.withLock { $0 = command }
            return command
        } catch {
            replace(index, RequestOutcome(planned), .init(making: error))
            throw error
        }
    }

    private func replace(_ index: Int, _ outcome: RequestOutcome, _ failure: FetchResult.Failure) {
        var outcome = outcome
        outcome.failure = failure
        entries.withLock { $0[index] = outcome }
    }

    /// Records the end of a step. It is also called for a step that could not be made. In that case the ledger already
    /// has the reason.
    func ended(_ index: Int, _ result: Result<HTTPFileCommand.Response, ErrandError>, _ response: Response?) {
        if let response, let name = plan.requests[index].request.name {
            plan.requests[index].maker.variables.record(response, of: name)
        }
        let failure = entries.withLock { entries in
            guard entries[index].failure?.name == FetchResult.Failure.stopped.name else {
                return entries[index].failure
            }
            entries[index].failure = nil
            switch result {
            case .success(let response): entries[index].take(response)
            case .failure(let error): entries[index].take(error)
            }
            return entries[index].failure
        }
        if let command = command.withLock({ $0.take() }) { run.show(index, command, response, failure?.message) }
        run.progress.ended(failed: failure != nil)
    }
}
