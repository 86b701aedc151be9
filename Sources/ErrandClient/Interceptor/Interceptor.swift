/// Stands between a command and the network: adds fields, signs, refuses, replaces the body; decrypts or unwraps what
/// comes back; has a request sent again.
///
/// Interceptors of the client come first, then the command's, then those of the overrides; `prepare` goes through them in
/// that order, `replays` and `transform` in the opposite one. All run in a task of the request's own, off the callback
/// queue and off the engine's threads, and may wait: ``Timeouts/total`` counts on, and ends them. Stopping the request
/// cancels the task and does not wait for it.
///
/// An error thrown here ends the request: an ``ErrandError`` as it is, any other as the `underlyingError` of
/// ``ErrandError/interceptionFailed``. (YTKNetwork has URL filters alone for that, which see nothing but the path.)
public protocol Interceptor: Sendable {
    /// Before a transfer is handed to the transport: the first of a run, and every replay; not before redirects, which
    /// repeat what was prepared. Where a redirect leads to another origin, the fields that this added or altered are
    /// dropped (``RequestDescription/originBoundFields``), and nobody is asked for others. Default: nothing is changed.
    func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription

    /// Whether the request is to be prepared and sent again. Asked after every last hop, whatever the status or the
    /// error was; not where nothing was sent, and not after ``InterceptionContext/replayLimit`` replays. Of a streamed
    /// response before its end, see ``Client/stream(_:overrides:)``. Default: no.
    func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool

    /// Changes a whole response, of any status, before it is judged and decoded. Default: nothing is changed.
    func transform(_ response: Response, in context: InterceptionContext) async throws -> Response
}

extension Interceptor {
    /// Nothing is changed.
    public func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription {
        request
    }

    /// No.
    public func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
        false
    }

    /// Nothing is changed.
    public func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
        response
    }
}
