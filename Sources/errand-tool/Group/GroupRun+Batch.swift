import Errand

extension GroupRun {
    /// Runs all requests together as a batch.
    func batch(
        _ commands: [HTTPFileCommand], policy: BatchPolicy, maxConcurrent: Int
    ) async -> [RequestOutcome] {
        let outcomes = commands.enumerated().map { index, command in
            var outcome = RequestOutcome(command, plan.requests[index])
            outcome.failure = .notRun
            return outcome
        }
        let batch = client.request(Batch(commands, policy: policy, maxConcurrent: maxConcurrent))
        // The iterator starts the batch here, so that the stop below finds it running.
        let results = batch.resultsAsCompleted.makeAsyncIterator()
        // The results are read in a separate task: a cancelled task would not receive the results of the children.
        let reading = Task {
            var outcomes = outcomes
            var results = results
            // The batch's own error is ignored: the errors of its children say more.
            while let (index, result) = try? await results.next() {
                outcomes[index].failure = nil
                switch result {
                case .success(let response):
                    outcomes[index].take(response)
                    show(index, commands[index], response.held?.take(), nil)
                case .failure(let error):
                    outcomes[index].take(error)
                    show(index, commands[index], error.response, outcomes[index].failure?.message)
                }
                progress.ended(failed: outcomes[index].failure != nil)
            }
            return outcomes
        }
        return await withTaskCancellationHandler {
            await reading.value
        } onCancel: {
            batch.stop()
        }
    }
}
