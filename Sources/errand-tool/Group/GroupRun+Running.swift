import Errand

extension GroupRun {
    /// All together.
    func batch(
        _ commands: [HTTPFileCommand], policy: BatchRun.Policy, maxConcurrent: Int
    ) async -> [RequestOutcome] {
        var outcomes = plan.requests.enumerated().map { index, request in
            var outcome = RequestOutcome(commands[index], name: request.label)
            outcome.failure = .notRun
            return outcome
        }
        await withTaskGroup(of: (Int, RequestOutcome).self) { group in
            var started = 0
            var isStopped = false
            while started < commands.count || !group.isEmpty {
                if started < commands.count, !isStopped, !Task.isCancelled, started < maxConcurrent {
                    add(commands, started, to: &group)
                    started += 1
                    continue
                }
                guard let (index, outcome) = await group.next() else { break }
                outcomes[index] = outcome
                if outcome.failure != nil, policy == .failFast, !isStopped {
                    isStopped = true
                    group.cancelAll()
                }
                if started < commands.count, !isStopped, !Task.isCancelled {
                    add(commands, started, to: &group)
                    started += 1
                }
            }
        }
        return outcomes
    }

    private func add(
        _ commands: [HTTPFileCommand], _ index: Int, to group: inout TaskGroup<(Int, RequestOutcome)>
    ) {
        let name = plan.requests[index].label
        group.addTask { (index, await run(commands[index], name).outcome) }
    }

    /// One after another.
    func chain(keepsGoing: Bool) async -> [RequestOutcome] {
        var outcomes: [RequestOutcome] = []
        var isEnded = false
        for request in plan.requests {
            let name = request.label
            var outcome = RequestOutcome(request, name: name)
            if isEnded || Task.isCancelled {
                outcome.failure = .notRun
            } else {
                do {
                    let command = try plan.maker.make(request)
                    let response: Response?
                    (outcome, response) = await run(command, name)
                    if let name = request.name { plan.maker.variables.record(command.exchange(response), of: name) }
                } catch {
                    outcome.failure = FetchResult.Failure(making: error)
                }
                if outcome.failure != nil, !keepsGoing { isEnded = true }
            }
            outcomes.append(outcome)
        }
        return outcomes
    }

    private func run(_ command: HTTPFileCommand, _ name: String) async -> (outcome: RequestOutcome, Response?) {
        var outcome = RequestOutcome(command, name: name)
        var response: Response?
        do {
            let accepted = try await client.run(command)
            outcome.take(accepted)
            response = accepted
        } catch let error as ErrandError {
            outcome.take(error)
            response = error.response
        } catch {
            outcome.failure = .stopped
        }
        progress.ended(failed: outcome.failure != nil)
        return (outcome, response)
    }
}
