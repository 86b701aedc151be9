extension ErrandError {
    /// An argument of an engine call is not valid.
    public static let invalidArgument = ErrandError(.invalidArgument)
    /// The URL, or the base URL that it is relative to, is malformed or contains control characters.
    public static let invalidURL = ErrandError(.invalidURL)
    /// The URL's scheme is neither http nor https.
    public static let unsupportedScheme = ErrandError(.unsupportedScheme)
    /// The method is not an HTTP token (RFC 9110 9.1).
    public static let invalidMethod = ErrandError(.invalidMethod)
    /// A header's name is not a token, or its value contains CR, LF or NUL (RFC 9110 5.5).
    public static let invalidHeader = ErrandError(.invalidHeader)
    /// The body is malformed, or its length differs from the declared one.
    public static let invalidBody = ErrandError(.invalidBody)
    /// A limit or timeout is zero, negative or too large.
    public static let invalidLimit = ErrandError(.invalidLimit)
    /// A connection option has an invalid value.
    public static let invalidOption = ErrandError(.invalidOption)
    /// A body file, certificate or key cannot be opened.
    public static let fileUnreadable = ErrandError(.fileUnreadable)
    /// This libcurl was built without a requested feature.
    public static let unsupportedFeature = ErrandError(.unsupportedFeature)
    /// The body's encoder failed; see ``underlyingError``.
    public static let requestEncodingFailed = ErrandError(.requestEncodingFailed)
    /// More requests wait than ``Client/Configuration/queueCapacity`` allows.
    public static let queueFull = ErrandError(.queueFull)
    /// The client is shut down, or was shut down while the request ran.
    public static let shutDown = ErrandError(.shutDown)
    /// The process forked after the engine had started. A child process can use the engine only if the parent forked
    /// before it made a client; the child then makes its own.
    public static let forked = ErrandError(.forked)
    /// Memory could not be allocated.
    public static let outOfMemory = ErrandError(.outOfMemory)
    /// This libcurl version is on the deny-list.
    public static let unsupportedLibrary = ErrandError(.unsupportedLibrary)
    /// The system refused a thread, a loop or a descriptor.
    public static let systemFailure = ErrandError(.systemFailure)
    /// A call that may block was made on a loop thread.
    public static let wrongThread = ErrandError(.wrongThread)
    /// A file, such as the one for cookies, cannot be written.
    public static let fileUnwritable = ErrandError(.fileUnwritable)
    /// The process, or the system, has no descriptor left for a socket or a file (`EMFILE`, `ENFILE`); the message
    /// names the limit. Before a connection fails with this error, the engine closes the kept connections of its shards
    /// that have no requests, and tries again for a quarter of a second.
    public static let outOfDescriptors = ErrandError(.outOfDescriptors)
    /// A defect of this library.
    public static let internalFailure = ErrandError(.internalFailure)
    /// The request was stopped. Closures are called for it only if they asked for cancellations; `async` callers get
    /// `CancellationError`.
    public static let cancelled = ErrandError(.cancelled)
    /// ``Timeouts/queue`` was exceeded.
    public static let timeoutQueue = ErrandError(.timeoutQueue)
    /// ``Timeouts/connect`` was exceeded.
    public static let timeoutConnect = ErrandError(.timeoutConnect)
    /// ``Timeouts/firstByte`` was exceeded.
    public static let timeoutFirstByte = ErrandError(.timeoutFirstByte)
    /// ``Timeouts/idle`` was exceeded.
    public static let timeoutIdle = ErrandError(.timeoutIdle)
    /// ``Timeouts/total`` or the `Deadline` of the request's task was exceeded while the request was under way.
    public static let timeoutTotal = ErrandError(.timeoutTotal)
    /// The host name did not resolve.
    public static let resolveFailed = ErrandError(.resolveFailed)
    /// No address of the host accepted a connection.
    public static let connectFailed = ErrandError(.connectFailed)
    /// `Configuration.addressGuard` refused every address of the host, or of the proxy. Nothing was sent; the message
    /// has the first address and the rule. After a redirect ``response`` is the redirecting response.
    public static let addressRefused = ErrandError(.addressRefused)
    /// The proxy failed or refused the connection.
    public static let proxyFailed = ErrandError(.proxyFailed)
    /// The TLS handshake failed. The server did not see this send of the request.
    public static let tlsFailed = ErrandError(.tlsFailed)
    /// The server's certificate is expired, self-signed, for another host, or otherwise not trusted.
    public static let tlsUntrusted = ErrandError(.tlsUntrusted)
    /// The server's key does not match any of ``ConnectionOptions/TLS/pinnedKeys``.
    public static let tlsPinMismatch = ErrandError(.tlsPinMismatch)
    /// A CA file, client certificate or key cannot be used.
    public static let tlsCredentials = ErrandError(.tlsCredentials)
    /// Sending failed.
    public static let sendFailed = ErrandError(.sendFailed)
    /// The connection ended before any byte of the response arrived, and the request was not resent.
    public static let connectionLost = ErrandError(.connectionLost)
    /// The connection failed while the response arrived.
    public static let receiveFailed = ErrandError(.receiveFailed)
    /// The body ended before its announced end; ``response`` has the part that arrived.
    public static let partialBody = ErrandError(.partialBody)
    /// The response is not HTTP.
    public static let malformedResponse = ErrandError(.malformedResponse)
    /// The body's content encoding (gzip, ...) is broken or unknown, or the body is truncated.
    public static let contentDecodingFailed = ErrandError(.contentDecodingFailed)
    /// An HTTP/2 protocol error.
    public static let protocolError = ErrandError(.protocolError)
    /// The request body's source failed.
    public static let uploadFailed = ErrandError(.uploadFailed)
    /// The body had to be resent but cannot be read again.
    public static let uploadNotReplayable = ErrandError(.uploadNotReplayable)
    /// More of the body was written than there was credit for.
    public static let uploadOverrun = ErrandError(.uploadOverrun)
    /// ``Limits/headerBytes`` was exceeded.
    public static let limitHeaderBytes = ErrandError(.limitHeaderBytes)
    /// ``Limits/headerCount`` was exceeded.
    public static let limitHeaderCount = ErrandError(.limitHeaderCount)
    /// ``Limits/bodyBytes`` was exceeded.
    public static let limitBodyBytes = ErrandError(.limitBodyBytes)
    /// ``Limits/decodedBytes`` was exceeded.
    public static let limitDecodedBytes = ErrandError(.limitDecodedBytes)
    /// ``RedirectPolicy/limit`` was exceeded; ``response`` is the last redirecting response.
    public static let tooManyRedirects = ErrandError(.tooManyRedirects)
    /// A redirect leads from https to http, to another scheme, or to a URL that cannot be sent; in the last case
    /// ``underlyingError`` is the error of that URL. ``response`` is the redirecting response.
    public static let redirectRefused = ErrandError(.redirectRefused)
    /// The status is not one of ``Command/acceptedStatusCodes``; ``response`` is the whole response.
    public static let statusNotAccepted = ErrandError(.statusNotAccepted)
    /// ``Command/decode(_:)`` failed; see ``underlyingError`` and ``response``.
    public static let responseDecodingFailed = ErrandError(.responseDecodingFailed)
    /// The command does not accept the response's content type; ``response`` is the whole response.
    public static let contentTypeNotAccepted = ErrandError(.contentTypeNotAccepted)
    /// The JSON body does not have the shape that the command requires; ``message`` names the path.
    public static let shapeMismatch = ErrandError(.shapeMismatch)
    /// The command's business validator threw; see ``underlyingError`` and ``response``.
    public static let validationFailed = ErrandError(.validationFailed)
    /// A URL filter, an interceptor, or a closure that makes a step of a chain or a member of a graph threw; see
    /// ``underlyingError``.
    public static let interceptionFailed = ErrandError(.interceptionFailed)
    /// A batch, a chain or a graph failed because a child failed; ``groupFailure`` has the child and its error.
    public static let groupFailed = ErrandError(.groupFailed)
    /// Members of a ``RequestGraph`` depend on each other in a cycle, which the error's text names. Nothing was sent.
    public static let dependencyCycle = ErrandError(.dependencyCycle)
    /// The circuit breaker of the request's origin refused the request, and nothing was sent. `retryAfter` says when
    /// another request may pass.
    public static let circuitOpen = ErrandError(.circuitOpen)
    /// A limit of requests in flight, or of their rate, refused the request, and nothing was sent. `retryAfter` says
    /// when a request would be let through, if that is known.
    public static let limitExceeded = ErrandError(.limitExceeded)
    /// None of the endpoints that replace the request's base URL may be used, and nothing was sent.
    public static let noEndpoint = ErrandError(.noEndpoint)
    /// No time was left before the request's deadline: its ``Timeouts/total`` or the `Deadline` of its task. So the
    /// request, or its next attempt, was not sent. A transfer that runs out of time while it is under way fails with
    /// ``timeoutTotal``. ``isTimeout`` is true for both. Only clients with `Configuration.resilience` or `obeysDeadlines`
    /// report this error.
    public static let deadlineExceeded = ErrandError(.deadlineExceeded)
    /// An authenticator could not get or refresh a credential; see ``underlyingError``.
    public static let authenticationFailed = ErrandError(.authenticationFailed)
    /// A test has no answer for the request: no recorded exchange and no route of `ErrandTesting` matches it. The message
    /// says what differs from the nearest one. Nothing was sent.
    public static let unexpectedRequest = ErrandError(.unexpectedRequest)
}
