import HTTPTypes

extension Client {
    /// Opens a WebSocket (RFC 6455) at a command's URL and returns when the server has answered with 101. The handshake
    /// is a GET with the command's headers, authorization, interceptors, cookies, TLS, proxy and timeouts.
    ///
    /// The URL's scheme is ws or wss; http and https, for example of a base URL, mean the same. ``Timeouts/idle`` and
    /// ``Timeouts/total`` apply only until the end of the handshake. Redirects are not followed. The socket counts as a
    /// request in flight until it ends. A shutdown of the client closes the socket with 1001 (going away), or ends it
    /// at once.
    ///
    /// Throws ``ErrandError``: ``ErrandError/unsupportedFeature`` before any connection if the loaded libcurl has no
    /// WebSocket support (before 8.11, or built without it), ``ErrandError/statusNotAccepted`` with the head of a
    /// response with another status, ``ErrandError/webSocketHandshakeFailed`` for an invalid 101. Throws
    /// `CancellationError` if the task was cancelled.
    public func webSocket<C: Command>(
        _ command: C, subprotocols: [String] = [], policy: WebSocketPolicy = WebSocketPolicy(),
        overrides: RequestOverrides? = nil
    ) async throws -> WebSocket {
        try await webSocket(
            command, WebSocketHandshake(subprotocols: subprotocols), policy: policy, overrides: overrides)
    }

    func webSocket<C: Command>(
        _ command: C, _ handshake: WebSocketHandshake, policy: WebSocketPolicy, overrides: RequestOverrides?
    ) async throws -> WebSocket {
        let session = WebSocketSession(policy, client: self)
        var overrides = overrides ?? RequestOverrides()
        for fields in [settings.headers, try command.givenHeaders, overrides.headers] {
            try WebSocketHandshake.check(fields)
        }
        try handshake.add(to: &overrides.headers)
        overrides.body = .source(session.outbox, contentType: nil)
        overrides.options = overrides.options?.union(.webSocket)
        overrides.acceptedStatusCodes = .of([101])
        overrides.acceptedContentTypes = .any
        overrides.redirects = .doNotFollow
        let response = try await stream(WebSocketCommand(command: command), overrides: overrides)
        do {
            let chosen = try handshake.check(response.head)
            session.start(response)
            return WebSocket(session, head: response.head, subprotocol: chosen)
        } catch {
            response.request.stop()  // No frame has been sent: RFC 6455 4.1 fails the connection.
            throw error
        }
    }
}

/// A command with the URL of its handshake.
private struct WebSocketCommand<C: Command>: Command {
    typealias Response = ErrandModel.Response
    let command: C

    var path: String { command.path.handshakeURL }
    var givenBaseURL: String? { command.givenBaseURL?.handshakeURL }
    var givenCDNURL: String? { command.givenCDNURL?.handshakeURL }
    var givenUsesCDN: Bool { command.givenUsesCDN }
    var givenURLRules: URLRules? { command.givenURLRules }
    var givenQuery: [QueryItem] { command.givenQuery }
    var givenHeaders: HTTPFields { get throws(ErrandError) { try command.givenHeaders } }
    var givenAuthorization: Authorization? { command.givenAuthorization }
    var givenTimeouts: Timeouts? { command.givenTimeouts }
    var givenLimits: Limits? { command.givenLimits }
    var givenPriority: Priority { command.givenPriority }
    var givenOptions: CommandOptions { command.givenOptions.union(.webSocket) }
    var givenConnection: ConnectionOptions? { command.givenConnection }
    var givenResilience: RequestResilience? { command.givenResilience }
    var givenURLTemplate: String? { command.givenURLTemplate }
    var givenInterceptors: [any Interceptor] { command.givenInterceptors }
    var cache: CachePolicy? { .off }
    var givenFailurePreprocessor: (@Sendable (ErrandError) async -> Void)? { command.givenFailurePreprocessor }
}

extension String {
    /// The URL with http instead of ws, and https instead of wss.
    fileprivate var handshakeURL: String {
        for (scheme, other) in [("ws://", "http://"), ("wss://", "https://")]
        where prefix(scheme.count).lowercased() == scheme {
            return other + dropFirst(scheme.count)
        }
        return self
    }
}
