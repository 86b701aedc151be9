import Synchronization

extension Request {
    /// Runs the request on the caller's own task, which decodes by itself. For requests that nobody watches: no user
    /// code runs on a queue, no accessories.
    ///
    /// Its frame lives as long as the request waits, and a task's stack grows by slabs of 1 KB: a few words more here
    /// are 1 KB more for each request in flight. So it holds nothing.
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

    /// As ``result``, without the types of the command.
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

    /// Begins the run and stores what its first transfer sends; `false` where it is over already.
    private func beginDirectly() -> Bool {
        guard case .submit = begin(installing: { _ in }) else { return false }
        do throws(ErrandError) {
            store(try prepare())
            return true
        } catch {
            return sendsAgain(after: .failure(error.refused))
        }
    }

    private func submitStored(resuming continuation: UnsafeContinuation<Void, Never>) {
        let (description, transfer) = core.withLock { core in
            core.caller = .waiting(continuation)
            return (core.description, core.machine.unsubmitted)
        }
        guard let description, let transfer else { return receive(.ended(.failure(.internalFailure))) }
        submit(description, transfer: transfer, isStored: true)
    }

    /// Takes the result of the transfer that was waited for.
    private func sendsAgain() -> Bool {
        let result: TransferResult? = core.withLock { core in
            guard case .resumed(let result) = core.caller else { return nil }
            core.caller = .busy
            return result
        }
        return sendsAgain(after: result ?? .failure(.internalFailure))
    }

    /// Takes a result as far as it goes; `false` where the run is over, else the next transfer's description is stored.
    private func sendsAgain(after result: TransferResult) -> Bool {
        guard case .submit(let description, _) = advance(result, inPlace: true) else { return false }
        store(description)
        return true
    }

    /// Runs the request by way of the callback queue, as its watchers need.
    func runWatched() async throws -> C.Response {
        let ended = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Ended, Never>) in
                // Not left for the caller to read when he gets his turn: a watcher may start the request again first.
                let action = begin(evenStopped: true) { continuation.resume(returning: $0.ended()) }
                // A task cancelled before that has had its handler called when there was nothing to stop yet.
                if Task.isCancelled { stop() }
                if case .submit(let transfer) = action { proceed(transfer) }
            }
        } onCancel: {
            stop()
        }
        return try value(of: ended)
    }
}

/// How a run ended, its value without its type: one that depends on the command's would be looked up at run time.
private enum Ended: Sendable {
    case value(any Sendable)
    case failure(ErrandError)
}
