/// Stands between a command and the network. An interceptor can add or sign fields, refuse a request, replace the body,
/// decrypt or unwrap a response, and have a request sent again.
///
/// The client's interceptors come first, then the command's, then those of the overrides. `prepare` is called in this
/// order, `replays` and `transform` in the reverse order. All three run in a task of the request, off the callback
/// queue and off the engine's threads, and may wait. ``Timeouts/total`` keeps counting and ends them when it expires.
/// Stopping the request cancels the task without waiting for it.
///
/// An error thrown here ends the request: an ``ErrandError`` unchanged, any other error as the `underlyingError` of
/// ``ErrandError/interceptionFailed``. (YTKNetwork has only URL filters for this, which see nothing but the path.)
public protocol Interceptor: Sendable {
    /// Changes the request before a transfer is handed to the transport: before the first transfer of a run and before
    /// every replay. It is not called before redirects, which repeat the prepared request. If a redirect leads to
    /// another origin, the fields that this method added or changed are dropped
    /// (``RequestDescription/originBoundFields``), and no interceptor is asked for new ones. Default: no change.
    func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription

    /// Returns whether the request is to be prepared and sent again. Called after every last hop, with any status or
    /// error. Not called if nothing was sent, and not after ``InterceptionContext/replayLimit`` replays. For a streamed
    /// response it is called before the end of the response, see ``Client/stream(_:overrides:)``. Default: no.
    func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool

    /// Changes a complete response, of any status, before it is judged and decoded. Default: no change.
    func transform(_ response: Response, in context: InterceptionContext) async throws -> Response
}

extension Interceptor {
    /// The default: no change.
    public func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription {
        request
    }

    /// The default: no replay.
    public func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
        false
    }

    /// The default: no change.
    public func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
        response
    }
}
