/// Says how requests carry a credential, and how a new one is had: what ``AuthenticationInterceptor`` needs to know of a
/// service.
///
/// ```swift
/// struct TokenAuthenticator: Authenticator {
///     let client: Client
///     func apply(_ token: Token, to request: inout RequestDescription) throws {
///         try request.headers.set(.authorization, to: "Bearer \(token.access)")
///     }
///     func isUsable(_ token: Token) -> Bool { token.expires > .now }
///     func refresh(_ token: Token?, after response: Response?) async throws -> Token {
///         try await client.run(RefreshToken(token?.refresh))
///     }
/// }
/// ```
///
/// All of it is called off the callback queue and off the engine's threads, from many tasks at once, and never under a
/// lock of the library.
public protocol Authenticator: Sendable {
    /// A token, a key, a pair of both.
    associatedtype Credential: Sendable

    /// Whether a request is to carry the credential, by its URL as a rule. Asked of requests to the origins that the
    /// interceptor was given (``CredentialOrigins``; others are never shown it). What is left out is neither waited for
    /// nor replayed. Default: every request.
    func applies(to request: RequestDescription) -> Bool

    /// Puts the credential into a request that is about to be sent. What is thrown ends that request, as from
    /// ``Interceptor/prepare(_:in:)``.
    func apply(_ credential: Credential, to request: inout RequestDescription) throws

    /// Whether the credential is worth being sent; if not it is refreshed first, which saves a round that would be
    /// refused. Not asked of one that has just been refreshed. Default: yes.
    func isUsable(_ credential: Credential) -> Bool

    /// Whether this response says that the credential is not valid (any more). Default: status 401.
    func refuses(_ response: Response) -> Bool

    /// Gets a new credential, by the old one (`nil`: there never was one) and the response that refused it (`nil`: it
    /// was not sent). What it throws becomes the `underlyingError` of ``ErrandError/authenticationFailed`` for all who
    /// wait.
    ///
    /// Its task is cancelled when another credential is set in the meantime, and when the `refreshTimeout` of the
    /// interceptor is up. One interceptor does not call it again before it has returned or its time is up: one that
    /// goes on after that, cancelled as it is, may be running beside the next.
    ///
    /// Requests that it makes, in its own task or in children of it, and those of groups that it runs there, are not
    /// authenticated by the interceptor that called it, even on the same client: they would wait for themselves. The
    /// same holds for tasks that it starts by `Task { }`, for as long as they run.
    func refresh(_ credential: Credential?, after response: Response?) async throws -> Credential
}

extension Authenticator {
    /// Every request.
    public func applies(to request: RequestDescription) -> Bool { true }
    /// Yes.
    public func isUsable(_ credential: Credential) -> Bool { true }
    /// Status 401.
    public func refuses(_ response: Response) -> Bool { response.statusCode == 401 }
}
