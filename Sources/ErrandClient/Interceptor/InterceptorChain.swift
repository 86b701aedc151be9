import Synchronization

/// The interceptors of one run, called one after the other as long as the request still needs the result.
package struct InterceptorChain: Sendable {
    let interceptors: [any Interceptor]
    let context: InterceptionContext
    /// The result of `replays`, already asked for: it is asked before the end of a streamed response.
    var answer: Task<Result<Bool, ErrandError>, Never>?
    /// False if the caller gets the body unchanged as it arrives.
    var transforms = true

    /// Prepares the description; fails with the error that keeps the request from being sent.
    func prepare(
        _ description: RequestDescription, in step: AnyRequest.WorkStep
    ) async -> Result<RequestDescription, ErrandError> {
        await prepare(description) { step.isWanted }
    }

    /// The same outside a step. `isWanted`: whether the result is still needed.
    package func prepare(
        _ description: RequestDescription, while isWanted: @Sendable () -> Bool
    ) async -> Result<RequestDescription, ErrandError> {
        var description = description
        do {
            for interceptor in interceptors {
                guard isWanted() else { return .failure(.cancelled) }
                let (former, bound) = (description.headers, description.originBoundFields)
                description = try await interceptor.prepare(description, in: context)
                description.bindFields(addedTo: former)
                // A description of an earlier request does not know which fields this request's interceptors have
                // added.
                if !bound.isSubset(of: description.originBoundFields) { description.originBoundFields.formUnion(bound) }
            }
            return .success(description)
        } catch {
            let failure = Self.failure(error, response: nil)
            // Before a replay something was sent already, so the failure is no refusal.
            return .failure(context.replays == 0 ? failure.refused : failure)
        }
    }

    /// Whether one of the interceptors wants the request to be sent again.
    func replays(
        after result: TransferResult, in step: AnyRequest.WorkStep
    ) async -> Result<Bool, ErrandError> {
        if let answer { return await answer.value }
        return await replays(after: result) { step.isWanted }
    }

    /// The same outside a step. `isWanted`: whether the result is still needed.
    func replays(
        after result: TransferResult, while isWanted: @Sendable () -> Bool
    ) async -> Result<Bool, ErrandError> {
        var response: Response?
        switch result {
        case .response(let whole):
            response = whole
        case .failure(let error):
            // A refused request was never sent, and a replay would not be sent either.
            if error.isRefusal { return .success(false) }
            response = error.response
        }
        guard context.replays < InterceptionContext.replayLimit else { return .success(false) }
        do {
            for interceptor in interceptors.reversed() {
                guard isWanted() else { return .failure(.cancelled) }
                if try await interceptor.replays(after: result, in: context) { return .success(true) }
            }
            return .success(false)
        } catch {
            return .failure(Self.failure(error, response: response))
        }
    }

    func transform(_ result: TransferResult, in step: AnyRequest.WorkStep) async -> TransferResult {
        await transform(result) { step.isWanted }
    }

    /// The same outside a step. `isWanted`: whether the result is still needed.
    package func transform(_ result: TransferResult, while isWanted: @Sendable () -> Bool) async -> TransferResult {
        guard transforms, case .response(let received) = result else { return result }
        var response = received
        do {
            for interceptor in interceptors.reversed() {
                guard isWanted() else { return .failure(.cancelled) }
                response = try await interceptor.transform(response, in: context)
            }
            return .response(response)
        } catch {
            return .failure(Self.failure(error, response: received))
        }
    }

    private static func failure(_ error: any Error, response: Response?) -> ErrandError {
        // The error may come from a request that the interceptor made. Whether that request was sent says nothing about
        // this one.
        if let error = error as? ErrandError {
            return error.with(response: error.response ?? response, isRefusal: false)
        }
        return .interceptionFailed.with(
            message: "an interceptor failed: \(error)", response: response, underlying: error)
    }
}

extension AnyRequest {
    /// The interceptors of the present run; `nil` if there are none.
    final func interception() -> InterceptorChain? {
        let present = core.withLock { core -> (run: RunHooks, lastURL: String?, builder: RequestBuilder?)? in
            // Most requests have no interceptors: `run` is copied only for those that have some.
            guard let hooks = core.hooks, !hooks.run.interceptors.isEmpty else { return nil }
            return (hooks.run, core.description?.url, core.builder)
        }
        guard let (run, lastURL, builder) = present, let storage = run.storage else { return nil }
        return InterceptorChain(
            interceptors: run.interceptors,
            context: InterceptionContext(
                requestID: id, command: erasedCommand, replays: run.replays, storage: storage, lastURL: lastURL,
                connection: client.connection, builder: builder ?? client.builder, overrides: overrides))
    }
}

extension InterceptorChain {
    /// The interceptors for a request that does not run, with a context of its own.
    package init(of client: Client, for command: some Command, _ overrides: RequestOverrides?) {
        self.init(
            interceptors: client.interceptors + command.givenInterceptors + (overrides?.interceptors ?? []),
            context: InterceptionContext(
                requestID: 0, command: command, replays: 0, storage: .init(), lastURL: nil,
                connection: client.connection, builder: client.builder, overrides: overrides))
    }
}
