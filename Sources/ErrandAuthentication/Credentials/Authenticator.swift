/// Defines how requests carry a service's credential, and how to get a new one, for an ``AuthenticationInterceptor``.
///
/// ```swift
/// struct TokenAuthenticator: Authenticator {
///     let client: Client
///     func apply(_ token: Token, to request: inout RequestDescription) throws {
///         try request.headers.set(.authorization, to: "Bearer \(token.access)")
///     }
///     func applies(to request: RequestDescription) -> Bool { true }
///     func isUsable(_ token: Token) -> Bool { token.expires > .now }
///     func refuses(_ response: Response) -> Bool { response.statusCode == 401 }
///     func refresh(_ token: Token?, after response: Response?) async throws -> Token {
///         try await client.run(RefreshToken(token?.refresh))
///     }
/// }
/// ```
///
/// All methods are called off the callback queue and off the engine's threads, from many tasks at once, and never under
/// a lock of the library. No method has a default, for the reason that ``Interceptor`` gives.
public protocol Authenticator: Sendable {
    /// A token, a key, or a pair of both.
    associatedtype Credential: Sendable

    /// Whether a request carries the credential, usually decided by its URL. Called for requests to the origins that
    /// the interceptor was given (``CredentialOrigins``); others never receive it. If this returns false, the
    /// request does not wait for a refresh and is not replayed. Usually true for every request.
    func applies(to request: RequestDescription) -> Bool

    /// Adds the credential to a request that is about to be sent. An error ends the request, as from
    /// ``StepwiseInterceptor/prepare(_:in:)``.
    func apply(_ credential: Credential, to request: inout RequestDescription) throws

    /// Whether the credential is worth sending. If not, it is refreshed first, which saves a round trip that would be
    /// refused. Not called for a credential that was just refreshed. True if the client cannot tell.
    func isUsable(_ credential: Credential) -> Bool

    /// Whether this response means that the credential is not valid, or no longer valid. Usually that is status 401.
    func refuses(_ response: Response) -> Bool

    /// Gets a new credential from the old one (`nil`: there never was one) and the response that refused it (`nil`: it
    /// was not sent). An error becomes the `underlyingError` of ``ErrandError/authenticationFailed`` for all waiting
    /// requests.
    ///
    /// The task is cancelled when another credential is set meanwhile, and when the interceptor's `refreshTimeout`
    /// expires. One interceptor does not call this method again before it returned or timed out. A call that continues
    /// after its timeout, although cancelled, may run at the same time as the next one.
    ///
    /// Requests made by this method, in its own task or in child tasks, and the requests of groups that it runs there,
    /// are not authenticated by the interceptor that called it, even on the same client: they would wait for
    /// themselves. The same applies to tasks that it starts with `Task { }`, for as long as they run.
    func refresh(_ credential: Credential?, after response: Response?) async throws -> Credential
}

extension ErrandError {
    /// The error for requests that need a credential. `error`: why there is none.
    static func noCredential(_ error: any Error) -> ErrandError {
        if let error = error as? ErrandError, error == .authenticationFailed { return error }
        return .authenticationFailed.with(message: "the credential could not be obtained: \(error)", underlying: error)
    }
}
