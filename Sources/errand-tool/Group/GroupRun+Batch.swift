import Errand

extension GroupRun {
    /// All together.
    func batch(
        _ commands: [HTTPFileCommand], policy: BatchPolicy, maxConcurrent: Int
    ) async -> [RequestOutcome] {
        let outcomes = commands.enumerated().map { index, command in
            var outcome = RequestOutcome(command, plan.requests[index])
            outcome.failure = .notRun
            return outcome
        }
        let batch = client.request(Batch(commands, policy: policy, maxConcurrent: maxConcurrent))
        // Started here, so that the stop below finds it running.
        let results = batch.results.makeAsyncIterator()
        // A task of its own: who reads in a task that is cancelled does not hear how the children ended.
        let reading = Task {
            var outcomes = outcomes
            var results = results
            // The batch's own error says less than its children's.
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
