import Synchronization

extension AnyRequest {
    /// When an asynchronous step runs.
    enum WorkPhase {
        /// Before the submission.
        case preparing
        /// After the transfer. A timeout reports the given response.
        case processing(Response?)
        /// After the transfer, when the total time has expired already or does not count any more.
        case ending
    }

    /// A running step.
    struct WorkStep: Sendable {
        let request: AnyRequest
        let number: Int

        /// Whether the step's result is still needed: not after the request was stopped or its time expired. Check it
        /// before calling code of the user.
        var isWanted: Bool { request.core.withLock { $0.machine.isWorking(number) } }
    }

    /// Runs `step` in a task of its own. If the request was stopped already, runs `otherwise` instead. The closure that
    /// `step` returns runs on the callback queue, unless the request was stopped or its time expired in the meantime.
    final func work(
        _ phase: WorkPhase, otherwise: () -> Void,
        _ step: @escaping @Sendable (WorkStep) async -> (@Sendable () -> Void)
    ) {
        let (begun, deadline, scope) = core.withLock { core in
            let deadline = core.deadline.map { max($0, core.hooks?.run.answerDeadline ?? $0) }
            return (core.machine.workBegan(), deadline, core.hooks?.run.scope ?? core.description?.attemptScope)
        }
        guard let work = begun else { return otherwise() }
        let body: @Sendable () async -> Void = { [self] in
            let goOn = await step(WorkStep(request: self, number: work))
            guard workEnded(work) else { return }
            callbacks.async(goOn)
        }
        let task = scope.map { $0.makeTask(body) } ?? Task { await body() }
        var timer: Task<Void, Never>?
        if let deadline, phase.isTimed {
            let left = deadline - client.stopwatch.now()
            timer = Task { [self] in
                guard (try? await client.stopwatch.sleep(for: left)) != nil, workEnded(work) else { return }
                stepTimedOut(phase)
            }
        }
        let running = Work(task: task, timer: timer)
        let isWanted = core.withLock { core in
            guard core.machine.isWorking(work) else { return false }
            core.madeHooks().run.work = running
            return true
        }
        // The step has ended already, or the request was stopped when there was no task to cancel yet.
        if !isWanted { running.cancel() }
        if client.isStopping { clientStops() }
    }

    /// The client has been shut down: a running step is given up without waiting for it, and a group's run ends.
    final func clientStops() {
        (ownCarrier as? any RequestCarrier)?.clientStops()
        let running: Work?? = core.withLock { core in
            core.machine.abandonRequested() ? .some(core.hooks?.run.work.take()) : nil
        }
        guard let running else { return }
        closeInterception()
        running?.cancel()
        callbacks.async { self.conclude(.shutDown) }
    }

    /// Returns whether the caller is the first to end the step.
    private func workEnded(_ work: Int) -> Bool {
        let (action, running) = core.withLock { core in
            let action = core.machine.workEnded(work)
            return (action, action == .goOn ? core.hooks?.run.work.take() : nil)
        }
        running?.cancel()
        return action == .goOn
    }

    private func stepTimedOut(_ phase: WorkPhase) {
        closeInterception()
        switch phase {
        case .preparing:
            // Before a replay something was sent already.
            let last = core.withLock { $0.earlier.last }
            let error = ErrandError.timeoutTotal
            deliver(.failure(last.map { error.with(response: $0.response) } ?? error.refused))
        case .processing(let response):
            callbacks.async { self.conclude(.timeoutTotal.with(response: response)) }
        case .ending:
            // This phase has no timer.
            break
        }
    }

    /// The request was stopped during a step.
    final func abandonWork() {
        closeInterception()
        core.withLock { $0.hooks?.run.work.take() }?.cancel()
        callbacks.async { self.conclude(.cancelled) }
    }
}

extension AnyRequest.WorkPhase {
    fileprivate var isTimed: Bool {
        switch self {
        case .preparing, .processing: true
        case .ending: false
        }
    }
}
