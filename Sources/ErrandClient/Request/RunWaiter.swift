import Synchronization

/// A task that waits for the end of a run which somebody else has started.
final class RunWaiter: Sendable {
    /// What a run ended with, its value without its type.
    struct End: Sendable {
        let result: Result<any Sendable, ErrandError>
        /// `nil`: a group's, or a failure's without one.
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

    /// Waits for ``end(_:)``. To be called once.
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

    /// Resumes the task. The first call counts.
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
    /// Waits for the end of the present run, or returns that of the last one.
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
            throw ErrandError.invalidArgument.with(message: "the request was not started")
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

    /// Called while `core` is locked.
    private func ending(_ outcome: RequestStateMachine.Outcome, in core: borrowing Core) -> RunWaiter.End {
        let result: Result<any Sendable, ErrandError> =
            switch outcome {
            case .succeeded: lastValue.map { .success($0) } ?? .failure(.internalFailure)
            case .failed(let error): .failure(error)
            case .cancelled: .failure(.cancelled)
            }
        return RunWaiter.End(result: result, response: core.response)
    }

    /// Before the next run may begin, which takes the value away.
    final func resumeWaiters(_ end: RunEnd) {
        guard let waiters = end.run?.hooks.waiters, !waiters.isEmpty else { return }
        let ended = core.withLock { ending(end.outcome, in: $0) }
        for waiter in waiters { waiter.end(ended) }
    }
}
