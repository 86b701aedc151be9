import Synchronization

extension Request {
    /// Runs the request on the caller's own task, which also decodes the response. Only for requests without watchers:
    /// no accessories, and no user code that runs on a queue.
    ///
    /// The frame of this function lives as long as the request waits, and a task's stack grows by slabs of 1 KB: a few
    /// more words here can cost 1 KB for each request in flight. Therefore the frame holds no values.
    func runDirectly() async throws -> C.Response {
        var isSending = beginDirectly()
        while isSending {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { submitStored(resuming: $0) }
            } onCancel: {
                stop()
            }
            isSending = sendsAgain()
        }
        return try value(of: ended())
    }

    /// The end of the run as ``result`` has it, without the types of the command.
    private func ended() -> Ended {
        core.withLock { core in
            switch core.machine.outcome {
            case .succeeded: storedValue.map { .value($0) } ?? .failure(.internalFailure)
            case .failed(let error): .failure(error)
            case .cancelled: .failure(.cancelled)
            case nil: .failure(.internalFailure)
            }
        }
    }

    private func value(of ended: Ended) throws -> C.Response {
        switch ended {
        case .value(let stored): return try exactly(stored)
        case .failure(let error): throw error.thrown
        }
    }

    /// Begins the run and stores the description of its first transfer; `false` if the run is over already.
    private func beginDirectly() -> Bool {
        guard case .submit = begin(installing: { _ in }) else { return false }
        do throws(ErrandError) {
            var isIntercepted = false
            store(try prepare(&isIntercepted))
            return true
        } catch {
            return sendsAgain(after: .failure(error.refused))
        }
    }

    private func submitStored(resuming continuation: UnsafeContinuation<Void, Never>) {
        var transfer: Int?
        var isWanted = false
        // Not one tuple: it would be copied by the runtime.
        let description = core.withLock { core in
            core.caller = .waiting(continuation)
            transfer = core.machine.unsubmitted
            if let transfer { isWanted = core.claimTransfer(transfer) }
            return core.description
        }
        guard let description, let transfer else { return receive(.ended(.failure(.internalFailure))) }
        hand(description, transfer: transfer, isWanted: isWanted)
    }

    /// Processes the result of the transfer that the task waited for.
    private func sendsAgain() -> Bool {
        let result: TransferResult? = core.withLock { core in
            guard case .resumed(let result) = core.caller else { return nil }
            core.caller = .busy
            return result
        }
        return sendsAgain(after: result ?? .failure(.internalFailure))
    }

    /// Processes a result. Returns `false` if the run is over; otherwise the next transfer's description is stored.
    private func sendsAgain(after result: TransferResult) -> Bool {
        guard case .submit(let description, _) = advance(result, inPlace: true) else { return false }
        store(description)
        return true
    }

    /// Runs the request through the callback queue, because it has watchers.
    func runWatched() async throws -> C.Response {
        let ended = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Ended, Never>) in
                // The end is read here and not by the resumed caller: a watcher may start the request again before the
                // caller runs.
                let action = begin(notifiesOnStop: true) { continuation.resume(returning: $0.ended()) }
                // If the task was cancelled earlier, its cancellation handler ran when there was nothing to stop yet.
                if Task.isCancelled { stop() }
                if case .submit(let transfer) = action { proceed(transfer) }
            }
        } onCancel: {
            stop()
        }
        return try value(of: ended)
    }
}

/// How a run ended. The value has no static type: a type that depends on the command's would be looked up at run time.
private enum Ended: Sendable {
    case value(any Sendable)
    case failure(ErrandError)
}
