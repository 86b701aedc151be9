/// Everything inside an ``Interceptor``: call it with the request to send.
///
/// - It may be called again after it has returned or thrown. Each call is another transfer, up to
///   ``InterceptionContext/replayLimit`` replays in a run; a call after that throws
///   ``ErrandError/interceptionFailed`` with ``InterceptionMisuse/tooManyTransfers``. A body that cannot be read twice
///   fails with ``ErrandError/uploadNotReplayable``.
/// - It may not be called while another call of the same interceptor is under way: the second call throws
///   ``ErrandError/interceptionFailed`` with ``InterceptionMisuse/concurrentCalls``.
/// - It throws ``ErrandError``. If a transfer failed, it throws the transfer's error, with the part of the response that
///   arrived. After the run or the interceptor has ended it throws ``ErrandError/cancelled``.
/// - Cancelling the task that calls it cancels the transfer, and the call throws ``ErrandError/cancelled``. So an
///   interceptor may give up waiting, and answer or resend. A call that is under way when its interceptor returns is
///   cancelled in the same way.
/// - For a streamed request it returns the head as soon as that has arrived, and the body goes to the caller unread. For
///   a status outside of 2xx the response also has the body, or the part that arrived within a second or in the first
///   64 KiB. If the interceptor calls `next` again or throws, the response is cancelled. If it returns the response, or
///   a ``Response/replacing(body:headers:)`` with other header fields, the caller gets that head with the body of the
///   stream; another body is an error (``InterceptionMisuse/changedStream``). Any other response answers the request:
///   the transfer is cancelled, and the caller gets that response with its own body. A response of an earlier call,
///   whose stream is gone, is an error too (``InterceptionMisuse/cancelledStream``). A response that the command does not
///   accept by its head arrives as a whole, up to 1 MiB. If it is longer, only its beginning arrives. That beginning
///   cannot be the body of an accepted response: the request then fails with ``ErrandError/limitBodyBytes``.
public struct InterceptorNext: Sendable {
    /// The form of a closure that replaces the rest of a request.
    public typealias Send = @Sendable (RequestDescription) async throws(ErrandError) -> Response

    private let send: Send

    /// Makes a `next` that belongs to no request, to test an interceptor by itself. The context of such a test is made by
    /// `InterceptionContext.testing` of the module `ErrandTesting`.
    public init(_ send: @escaping Send) {
        self.send = send
    }

    /// Sends `request` through everything inside, and returns the response. Any thread.
    public func callAsFunction(_ request: RequestDescription) async throws(ErrandError) -> Response {
        try await send(request)
    }

    /// The same, but returns a failure as a value.
    public func result(of request: RequestDescription) async -> TransferResult {
        do throws(ErrandError) {
            return .response(try await send(request))
        } catch {
            return .failure(error)
        }
    }
}
