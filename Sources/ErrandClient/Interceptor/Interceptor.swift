/// Stands between a command and the network. An interceptor can add or sign fields, refuse a request, replace the body,
/// decrypt or unwrap a response, and have a request sent again.
///
/// The client's interceptors come first, then the command's, then those of the overrides. `prepare` is called in this
/// order, `replays` and `transform` in the reverse order. All three run in a task of the request, off the callback
/// queue and off the engine's threads, and may wait. ``Timeouts/total`` keeps counting and ends them when it expires.
/// Stopping the request cancels the task without waiting for it.
///
/// No method has a default, so that a method with a misspelt name or another signature is a compiler error and not an
/// interceptor that is never called. A type with one of the methods conforms to ``PreparingInterceptor``,
/// ``ReplayingInterceptor`` or ``TransformingInterceptor`` instead, which requires that method alone.
///
/// An error thrown here ends the request: an ``ErrandError`` unchanged, any other error as the `underlyingError` of
/// ``ErrandError/interceptionFailed``. (YTKNetwork has only URL filters for this, which see nothing but the path.)
public protocol Interceptor: Sendable {
    /// Changes the request before a transfer is handed to the transport: before the first transfer of a run and before
    /// every replay. It is not called before redirects, which repeat the prepared request. If a redirect leads to
    /// another origin, the fields that this method added or changed are dropped
    /// (``RequestDescription/originBoundFields``), and no interceptor is asked for new ones. To change nothing, return
    /// `request`.
    func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription

    /// Returns whether the request is to be prepared and sent again. Called after every last hop, with any status or
    /// error. Not called if nothing was sent, and not after ``InterceptionContext/replayLimit`` replays. For a streamed
    /// response it is called before the end of the response, see ``Client/stream(_:overrides:)``.
    func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool

    /// Changes a complete response, of any status, before it is judged and decoded. To change nothing, return
    /// `response`.
    func transform(_ response: Response, in context: InterceptionContext) async throws -> Response
}
