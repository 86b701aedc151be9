import Synchronization

extension Request {
    /// Runs the request on the caller's own task, which decodes by itself. For requests that nobody watches: no user
    /// code runs on a queue, no accessories.
    ///
    /// Its frame lives as long as the request waits, and a task's stack grows by slabs of 1 KB: a few words more here
    /// are 1 KB more for each request in flight. So it holds nothing but the number of the transfer.
    func runDirectly() async throws -> C.Response {
        var transfer = firstTransfer()
        while let number = transfer {
            transfer = nextTransfer(
                after: await withTaskCancellationHandler {
                    await withUnsafeContinuation { submitStored(transfer: number, resuming: $0) }
                } onCancel: {
                    stop()
                })
        }
        return try takenOutcome()
    }

    /// As ``result``, with fewer copies of a value whose type is known at run time alone.
    private func takenOutcome() throws -> C.Response {
        var failure: ErrandError?
        let stored = core.withLock { core -> (any Sendable)? in
            switch core.machine.outcome {
            case .succeeded: return storedValue
            case .failed(let error): failure = error
            case .cancelled: failure = .cancelled
            case nil: failure = .internalFailure
            }
            return nil
        }
        if let stored { return try exactly(stored) }
        guard failure != .cancelled else { throw CancellationError() }
        throw failure ?? .internalFailure
    }

    /// Begins the run and stores what its first transfer sends; `nil` where it is over already.
    private func firstTransfer() -> Int? {
        guard case .submit(let transfer) = begin(installing: { _ in }) else { return nil }
        do throws(ErrandError) {
            store(try prepare())
            return transfer
        } catch {
            return nextTransfer(after: .failure(error.refused))
        }
    }

    private func submitStored(transfer: Int, resuming continuation: UnsafeContinuation<TransferResult, Never>) {
        let description = core.withLock { core in
            core.continuation = continuation
            return core.description
        }
        guard let description else { return receive(.ended(.failure(.internalFailure))) }
        submit(description, transfer: transfer, isStored: true)
    }

    /// Takes a result as far as it goes; `nil` where the run is over.
    private func nextTransfer(after result: TransferResult) -> Int? {
        guard case .submit(let description, let transfer) = advance(result, inPlace: true) else { return nil }
        store(description)
        return transfer
    }

    /// Runs the request by way of the callback queue, as its watchers need.
    func runWatched() async throws -> C.Response {
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                // Not left for the caller to read when he gets his turn: a watcher may start the request again first.
                let action = begin(evenStopped: true) { continuation.resume(returning: $0.result) }
                // A task cancelled before that has had its handler called when there was nothing to stop yet.
                if Task.isCancelled { stop() }
                if case .submit(let transfer) = action { proceed(transfer) }
            }
        } onCancel: {
            stop()
        }
        return try Self.outcome(result)
    }

    private static func outcome(_ result: Result<C.Response, ErrandError>?) throws -> C.Response {
        switch result {
        case .success(let value): return value
        case .failure(.cancelled): throw CancellationError()
        case .failure(let error): throw error
        case nil: throw ErrandError.internalFailure
        }
    }
}
