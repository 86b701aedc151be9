import Synchronization

extension Request {
    /// Runs the request on the caller's own task, which decodes by itself. For requests that nobody watches: no user
    /// code runs on a queue, no accessories.
    func runDirectly() async throws -> C.Response {
        guard case .submit(let first) = begin(installing: {}) else { throw ErrandError.internalFailure }
        var transfer = first
        var next: RequestDescription
        do throws(ErrandError) {
            next = try prepare()
        } catch {
            _ = advance(.failure(error.refused))
            return try outcome()
        }
        while true {
            let (description, number) = (next, transfer)
            let result = await withTaskCancellationHandler {
                await withUnsafeContinuation { continuation in
                    core.withLock { $0.continuation = continuation }
                    submit(description, transfer: number)
                }
            } onCancel: {
                stop()
            }
            switch advance(result) {
            case .submit(let description, let number):
                next = description
                transfer = number
            case .finished, .ignored:
                return try outcome()
            }
        }
    }

    /// Runs the request by way of the callback queue, as its watchers need.
    func runWatched() async throws -> C.Response {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let action = begin(evenStopped: true) { _ in continuation.resume() }
                // A task cancelled before that has had its handler called when there was nothing to stop yet.
                if Task.isCancelled { stop() }
                if case .submit(let transfer) = action { proceed(transfer) }
            }
        } onCancel: {
            stop()
        }
        return try outcome()
    }

    private func outcome() throws -> C.Response {
        switch result {
        case .success(let value): return value
        case .failure(.cancelled): throw CancellationError()
        case .failure(let error): throw error
        case nil: throw ErrandError.internalFailure
        }
    }
}
