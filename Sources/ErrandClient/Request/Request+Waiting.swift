/// The result of a successful request: the value, and the response that the value was made of.
public struct Outcome<Value: Sendable>: Sendable {
    /// The value that the command made of the response.
    public let value: Value
    /// The response: status, header fields, body.
    public let response: Response

    /// The metrics of the last transfer.
    public var metrics: TransferMetrics { response.metrics }
}

extension Request {
    /// Waits for the end of the present run and returns its value. If the request has ended, returns the value of the
    /// last run.
    ///
    /// ```swift
    /// let request = client.request(GetReport())
    /// request.onProgress { progress in print(progress.bytesReceived) }
    /// request.start()
    /// let report = try await request.finalValue()
    /// ```
    ///
    /// Any number of tasks may wait. They resume after accessories, delegate and closures were called.
    ///
    /// Throws the error that the request failed with; `CancellationError` if the request was stopped or the task was
    /// cancelled; and ``ErrandError/invalidArgument`` if the request was never started.
    ///
    /// - Parameter stopsIfCancelled: Whether cancelling the task stops the request. `false`: only the task stops
    ///   waiting. Default: `true`, as everywhere.
    public func finalValue(stopsIfCancelled: Bool = true) async throws -> C.Response {
        try value(of: await end(stopsIfCancelled: stopsIfCancelled))
    }

    /// Waits as ``finalValue(stopsIfCancelled:)`` and returns the value with the response and its metrics. A group has
    /// no response: throws ``ErrandError/invalidArgument`` at once.
    public func finalOutcome(stopsIfCancelled: Bool = true) async throws -> Outcome<C.Response> {
        guard group == nil else { throw noResponse }
        return try outcome(of: await end(stopsIfCancelled: stopsIfCancelled))
    }

    private func value(of end: RunWaiter.End) throws(ErrandError) -> C.Response {
        try exactly(try end.result.get())
    }

    private func outcome(of end: RunWaiter.End) throws(ErrandError) -> Outcome<C.Response> {
        guard let response = end.response else { throw .internalFailure }
        return Outcome(value: try value(of: end), response: response)
    }

    /// Starts the request and waits for the end of that run, through the callback queue.
    func runForOutcome() async throws -> Outcome<C.Response> {
        let waiter = RunWaiter()
        let isStarted = startRun(installing: { $0.madeHooks().waiters.append(waiter) })
        guard isStarted else { throw ErrandError.internalFailure }
        let end = await withTaskCancellationHandler {
            await waiter.wait()
        } onCancel: {
            if waiter.isOpen { stop() }
        }
        if case .failure(let error) = end.result { throw error.thrown }
        return try outcome(of: end)
    }
}

extension AnyRequest {
    /// Waits for the end of the present run and returns its response. If the request has ended, returns the response of
    /// the last run. Otherwise as ``Request/finalValue(stopsIfCancelled:)``. A group has no response: throws
    /// ``ErrandError/invalidArgument`` at once.
    public final func finalResponse(stopsIfCancelled: Bool = true) async throws -> Response {
        guard group == nil else { throw noResponse }
        guard let response = try await end(stopsIfCancelled: stopsIfCancelled).response else {
            throw ErrandError.internalFailure
        }
        return response
    }

    /// The error of every method that asks a group for its response.
    fileprivate final var noResponse: ErrandError {
        .invalidArgument.with(message: "a group has no response of its own", isRefusal: true)
    }
}

extension Client {
    /// Runs a command and returns its value with the response and its metrics. Otherwise as ``run(_:overrides:)``. A
    /// group has no response: throws ``ErrandError/invalidArgument`` and starts nothing.
    public func outcome<C: Command>(
        of command: C, overrides: RequestOverrides? = nil
    ) async throws -> Outcome<C.Response> {
        try Task.checkCancellation()
        let request = request(command, overrides: overrides)
        guard request.group == nil else { throw request.noResponse }
        return try await request.runForOutcome()
    }
}
