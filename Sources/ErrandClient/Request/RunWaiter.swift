import Synchronization

/// A task that waits for the end of a run that was started elsewhere.
final class RunWaiter: Sendable {
    /// The end of a run; its value without its type.
    struct End: Sendable {
        let result: Result<any Sendable, ErrandError>
        /// `nil` for a group, and for a failure without a response.
        let response: Response?
    }

    private enum State {
        case idle
        case waiting(CheckedContinuation<End, Never>)
        case ended(End)
    }

    private let state = Mutex(State.idle)

    /// Whether ``end(_:)`` was not called yet.
    var isOpen: Bool {
        state.withLock { if case .ended = $0 { false } else { true } }
    }

    /// Waits for ``end(_:)``. Must be called once only.
    func wait() async -> End {
        await withCheckedContinuation { continuation in
            let end: End? = state.withLock { state in
                if case .ended(let end) = state { return end }
                state = .waiting(continuation)
                return nil
            }
            if let end { continuation.resume(returning: end) }
        }
    }

    /// Resumes the task. Only the first call has an effect.
    func end(_ end: End) {
        let continuation: CheckedContinuation<End, Never>? = state.withLock { state in
            switch state {
            case .idle:
                state = .ended(end)
                return nil
            case .waiting(let continuation):
                state = .ended(end)
                return continuation
            case .ended:
                return nil
            }
        }
        continuation?.resume(returning: end)
    }
}

extension AnyRequest {
    /// Waits for the end of the present run, or returns the end of the last run.
    final func end(stopsIfCancelled: Bool) async throws -> RunWaiter.End {
        let waiter = RunWaiter()
        let isStarted = core.withLock { core -> Bool in
            if let outcome = core.machine.outcome {
                waiter.end(ending(outcome, in: core))
                return true
            }
            guard !core.machine.isAtRest else { return false }
            core.madeHooks().run.waiters.append(waiter)
            return true
        }
        guard isStarted else {
            throw ErrandError.invalidArgument.with(message: "the request was not started; call start() first")
        }
        let end = await withTaskCancellationHandler {
            await waiter.wait()
        } onCancel: {
            guard waiter.isOpen else { return }
            if stopsIfCancelled { stop() } else { waiter.end(.init(result: .failure(.cancelled), response: nil)) }
        }
        if case .failure(let error) = end.result { throw error.thrown }
        return end
    }

    /// The end of a run with this outcome. Called while `core` is locked.
    private func ending(_ outcome: RequestStateMachine.Outcome, in core: borrowing Core) -> RunWaiter.End {
        let result: Result<any Sendable, ErrandError> =
            switch outcome {
            case .succeeded: lastValue.map { .success($0) } ?? .failure(.internalFailure)
            case .failed(let error): .failure(error)
            case .cancelled: .failure(.cancelled)
            }
        return RunWaiter.End(result: result, response: core.response)
    }

    /// Resumes the tasks before the next run may begin, because that run takes the value away.
    final func resumeWaiters(_ end: RunEnd) {
        guard let waiters = end.run?.hooks.waiters, !waiters.isEmpty else { return }
        let ended = core.withLock { ending(end.outcome, in: $0) }
        for waiter in waiters { waiter.end(ended) }
    }
}
