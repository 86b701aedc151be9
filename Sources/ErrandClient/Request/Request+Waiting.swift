extension Request {
    /// Waits for the end of the run that is under way, and returns its value; of a request that is over, the last run's.
    ///
    /// ```swift
    /// let request = client.request(GetReport())
    /// request.onProgress { progress in print(progress.bytesReceived) }
    /// request.start()
    /// let report = try await request.finalValue()
    /// ```
    ///
    /// Any number of tasks may wait. They go on after accessories, delegate and closures were told.
    ///
    /// Throws what the request failed with; `CancellationError` where it was stopped or the task was cancelled; and
    /// ``ErrandError/invalidArgument`` where it was never started.
    ///
    /// - Parameter stopsIfCancelled: Whether cancelling the task stops the request. `false`: the task alone gives up
    ///   waiting. Default: `true`, as everywhere.
    public func finalValue(stopsIfCancelled: Bool = true) async throws -> C.Response {
        try value(of: await end(stopsIfCancelled: stopsIfCancelled))
    }

    /// As ``finalValue(stopsIfCancelled:)``, with the response and its metrics. A group has no response: throws
    /// ``ErrandError/invalidArgument`` at once.
    public func finalOutcome(stopsIfCancelled: Bool = true) async throws -> Outcome<C.Response> {
        guard group == nil else { throw Self.noResponse }
        return try outcome(of: await end(stopsIfCancelled: stopsIfCancelled))
    }

    private func value(of end: RunWaiter.End) throws(ErrandError) -> C.Response {
        try exactly(try end.result.get())
    }

    private func outcome(of end: RunWaiter.End) throws(ErrandError) -> Outcome<C.Response> {
        guard let response = end.response else { throw .internalFailure }
        return Outcome(value: try value(of: end), response: response)
    }

    /// Starts the request and waits for the end of that run, by way of the callback queue.
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

    static var noResponse: ErrandError {
        ErrandError.invalidArgument.with(message: "a group has no response of its own", isRefusal: true)
    }
}

extension AnyRequest {
    /// Waits for the end of the run that is under way, and returns its response; of a request that is over, the last
    /// run's. As ``Request/finalValue(stopsIfCancelled:)`` else. A group has no response: throws
    /// ``ErrandError/invalidArgument`` at once.
    public final func finalResponse(stopsIfCancelled: Bool = true) async throws -> Response {
        guard group == nil else {
            throw ErrandError.invalidArgument.with(message: "a group has no response of its own")
        }
        guard let response = try await end(stopsIfCancelled: stopsIfCancelled).response else {
            throw ErrandError.internalFailure
        }
        return response
    }
}

extension Client {
    /// Runs a command and returns its value with the response and its metrics. As ``run(_:overrides:)`` else. A group has
    /// no response: throws ``ErrandError/invalidArgument``, and starts nothing.
    public func outcome<C: Command>(
        of command: C, overrides: RequestOverrides? = nil
    ) async throws -> Outcome<C.Response> {
        try Task.checkCancellation()
        let request = request(command, overrides: overrides)
        guard request.group == nil else { throw Request<C>.noResponse }
        return try await request.runForOutcome()
    }
}
