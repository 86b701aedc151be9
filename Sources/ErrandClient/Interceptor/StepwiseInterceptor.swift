/// An ``Interceptor`` of three steps: before a transfer, after it, and with its response.
///
/// Its ``Interceptor/intercept(_:in:next:)`` calls `prepare`, then `next`, then `replays`. If `replays` returns true, it
/// begins anew. Otherwise it returns the response as `transform` has changed it. By then, `replays` and `transform` of
/// the interceptors inside have been called.
///
/// No method has a default, so that a method with a misspelt name or another signature is a compiler error and not a
/// step that is never called. A type with one of the methods conforms to ``PreparingInterceptor``,
/// ``ReplayingInterceptor`` or ``TransformingInterceptor`` instead, which requires that method alone.
public protocol StepwiseInterceptor: Interceptor {
    /// Changes the request before it is passed on: before the first transfer, and before every replay that this
    /// interceptor, or one around it, asks for. It gets the request as the interceptor around it has passed it on. It is
    /// not called before redirects, which repeat the prepared request. If a redirect leads to
    /// another origin, the fields that this method added or changed are dropped
    /// (``RequestDescription/originBoundFields``), and no interceptor is asked for new ones. To change nothing, return
    /// `request`.
    func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription

    /// Returns whether the request is to be prepared and sent again. Called after the last hop of each transfer, with any
    /// status or error. `result` has the response as the interceptors inside have transformed it. If a `transform` inside has
    /// thrown, `result` has the response that this `transform` got. Not called if nothing was sent, and not after
    /// ``InterceptionContext/replayLimit`` replays. For a streamed response it is called before the end of the response,
    /// see ``Client/stream(_:overrides:)``.
    func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool

    /// Changes a complete response, of any status, before it is judged and decoded. Not called for a streamed response
    /// that the command accepts by its head. To change nothing, return `response`. If it throws and the command does
    /// not accept the status, the request fails with ``ErrandError/statusNotAccepted`` and the thrown error as the
    /// underlying error: an error page is seldom encrypted.
    func transform(_ response: Response, in context: InterceptionContext) async throws -> Response
}

extension StepwiseInterceptor {
    /// The three steps.
    public func intercept(
        _ request: RequestDescription, in context: InterceptionContext, next: Next
    ) async throws -> Response {
        let progress = context.progress
        var cause: SendCause?
        while true {
            var prepared = try await prepare(request, in: context)
            if let cause { prepared.cause = cause }
            let result = await next.result(of: prepared)
            let isSentAgain =
                progress.maySendAgain
                ? try await replays(after: progress.withoutFailedTransform(result), in: context) : false
            // The run may have ended while `replays` was waiting: no more code of the user is called.
            guard progress.isOpen else { throw ErrandError.cancelled }
            if isSentAgain {
                progress.replayDecided()
                cause = self is any AuthenticatingInterceptor ? .authentication : .replay
                continue
            }
            switch result {
            case .failure(let error):
                throw error
            case .response(let response):
                // The caller of a stream reads the body as it arrives.
                if case .streamedHead = response.mark { return response }
                do {
                    return try await transform(response, in: context)
                } catch {
                    throw progress.transformFailed(error, on: response)
                }
            }
        }
    }
}
