/// Wraps the rest of a request: the interceptors inside, and finally the redirects, the cache and the network. An
/// interceptor can change the request, refuse it, answer it, resend it, change its response, and measure all of this.
///
/// ```swift
/// struct Timing: Interceptor {
///     func intercept(
///         _ request: RequestDescription, in context: InterceptionContext, next: Next
///     ) async throws -> Response {
///         let start = ContinuousClock.now
///         defer { record(request.url, ContinuousClock.now - start) }
///         return try await next(request)
///     }
/// }
/// ```
///
/// The client's interceptors are the outermost, in their order. The command's interceptors are inside these, and those of
/// the overrides are innermost. A call of `next` runs everything inside: the next interceptor, or for the innermost one
/// the transfer with its redirects. So an interceptor that resends a request repeats only what is inside it. A field that
/// must be new in each transfer, such as a signature with a time, must be added by an interceptor inside those that
/// resend.
///
/// If an interceptor sets a URL of another origin, the request loses the fields of ``Redaction/secretHeaders``, `Host`,
/// the credentials in ``RequestDescription/authentication``, and the fields that interceptors around it have added or
/// altered. Fields whose values the interceptor itself changes are kept. An interceptor that authenticates such requests
/// must be inside the one that sets the URL.
///
/// An interceptor runs in a task of the request, off the callback queue and off the engine's threads, and may wait. All
/// interceptors of a run share this task. Stopping the request cancels the task without waiting for it, and so does
/// ``Timeouts/total``. If a transfer has used up the total time, the interceptors get another 100 ms to answer instead.
/// In that time the request is not resent. A command that they run may still be sent, and is stopped after that time. If
/// the total time is up while they wait between two transfers, the request ends.
///
/// The result is the response of the request: it is checked and decoded like any response. An error that is thrown ends
/// the request: an ``ErrandError`` unchanged, any other error as the `underlyingError` of
/// ``ErrandError/interceptionFailed``.
///
/// An interceptor sees the head of a streamed response (``Client/stream(_:overrides:)``); see ``InterceptorNext``.
///
/// ``PreparingInterceptor``, ``ReplayingInterceptor`` and ``TransformingInterceptor`` are shorter forms for one purpose
/// each. ``StepwiseInterceptor`` combines all three. (OkHttp `Interceptor`, gRPC and Hummingbird middleware. YTKNetwork
/// has only URL filters for this, which see nothing but the path.)
public protocol Interceptor: Sendable {
    /// The rest of a request, as ``intercept(_:in:next:)`` calls it.
    typealias Next = InterceptorNext

    /// Returns the response to `request`, usually that of `next(request)`.
    func intercept(
        _ request: RequestDescription, in context: InterceptionContext, next: Next
    ) async throws -> Response
}
