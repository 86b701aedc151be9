/// The interceptors of one run, each around the next.
package struct InterceptorChain: Sendable {
    /// What is inside all interceptors.
    struct Innermost: Sendable {
        let send: @Sendable (RequestDescription) async -> TransferResult
        /// Cancels a transfer that no interceptor waits for any more.
        var abandon: @Sendable () -> Void = {}
    }

    let interceptors: [any Interceptor]
    /// The places of interceptors that are left out.
    var skipped: Set<Int> = []
    let context: InterceptionContext

    private var progress: InterceptionProgress { context.progress }

    /// Calls the outermost interceptor and returns its result: never a failure of the kind
    /// ``ErrandError/cancelled``, which would look like a stop.
    func run(_ request: RequestDescription, _ innermost: Innermost) async -> TransferResult {
        let result = await next(0, after: request, within: 0, innermost).result(of: request)
        guard case .failure(let error) = result else { return result }
        progress.ended(with: error)
        if error == .cancelled {
            return .failure(
                .interceptionFailed.with(
                    message: "an interceptor cancelled its call of next", response: error.response,
                    underlying: CancellationError(), isRefusal: progress.isUnsent))
        }
        // The error may come from a request that an interceptor made. Whether that request was sent says nothing about
        // this one.
        return .failure(error.isRefusal == progress.isUnsent ? error : error.with(isRefusal: progress.isUnsent))
    }

    /// The call of the interceptor at `index`, or of what is inside all of them. `given`: the request that the
    /// interceptor around it got. `parent`: the call of that interceptor.
    private func next(
        _ index: Int, after given: RequestDescription, within parent: Int, _ innermost: Innermost
    ) -> InterceptorNext {
        guard !skipped.contains(index) else { return next(index + 1, after: given, within: parent, innermost) }
        return InterceptorNext { request async throws(ErrandError) -> Response in
            let number = try progress.entered(by: parent)
            let result = await call(
                index, request.bound(since: given, context.builder?.upgrader(for: given)), number, innermost)
            if progress.left(number) { innermost.abandon() }
            switch result {
            case .response(let response): return response
            case .failure(let error): throw error
            }
        }
    }

    private func call(
        _ index: Int, _ request: RequestDescription, _ number: Int, _ innermost: Innermost
    ) async -> TransferResult {
        guard index < interceptors.count else {
            do throws(ErrandError) { try progress.willTransfer(request) } catch { return .failure(error) }
            return await innermost.send(request)
        }
        do {
            return .response(
                try await interceptors[index].intercept(
                    request, in: context.at(index), next: next(index + 1, after: request, within: number, innermost)))
        } catch is CancellationError where Task.isCancelled {
            // An interceptor outside has given up the call while this one waited.
            return .failure(progress.failure(ErrandError.cancelled))
        } catch {
            return .failure(progress.failure(error))
        }
    }
}

extension RequestDescription {
    /// The request that an interceptor passes on after it got `given`. If the interceptor leads it to another origin,
    /// everything that the interceptors outside have added for the first origin is dropped.
    fileprivate func bound(since given: RequestDescription, _ upgrade: (any URLUpgrade)?) -> RequestDescription {
        var request = self
        request.bindFields(addedTo: given.headers)
        // A description of an earlier request does not know which fields this request's interceptors have added.
        let bound = given.originBoundFields
        if !bound.isSubset(of: request.originBoundFields) { request.originBoundFields.formUnion(bound) }
        let leaves = leaves(given, upgrade)
        if leaves { RedirectRules.dropOriginBound(from: &request, of: given) }
        if leaves || given.hasLeftOrigin { request.hasLeftOrigin = true }
        return request
    }

    /// Whether the request goes to another origin than `given`, by the URLs that are sent instead of theirs.
    private func leaves(_ given: RequestDescription, _ upgrade: (any URLUpgrade)?) -> Bool {
        guard url != given.url else { return false }
        let own = upgrade?.upgraded(url) ?? url
        let former = upgrade?.upgraded(given.url) ?? given.url
        return URLReference(own).origin != URLReference(former).origin
    }
}

extension InterceptorChain {
    /// The interceptors for a request that does not run, with a context of its own.
    package init(of client: Client, for command: some Command, _ overrides: RequestOverrides?) {
        self.init(
            interceptors: client.interceptors + command.givenInterceptors + (overrides?.interceptors ?? []),
            context: InterceptionContext(
                requestID: 0, command: command, storage: .init(), progress: InterceptionProgress(kind: .lookup),
                connection: client.connection, builder: client.builder, overrides: overrides, client: client))
    }

    /// The result of the interceptors is not needed any more: none of them calls `next` again.
    package func close() { progress.close() }

    /// Runs all interceptors around `find`, which replaces the transfer.
    package func run(
        _ request: RequestDescription, around find: @escaping @Sendable (RequestDescription) async -> TransferResult
    ) async -> TransferResult {
        let progress = progress
        let result = await run(
            request,
            Innermost(send: { request in
                let result = await find(request)
                progress.transferEnded(result, at: nil)
                return result
            }))
        progress.close()
        return result
    }
}
