extension ErrandError {
    /// An argument of an engine call is not valid.
    public static let invalidArgument = ErrandError(.invalidArgument)
    /// The URL, or the base URL that it is relative to, is malformed or has control characters in it.
    public static let invalidURL = ErrandError(.invalidURL)
    /// The URL's scheme is neither http nor https.
    public static let unsupportedScheme = ErrandError(.unsupportedScheme)
    /// The method is not an HTTP token (RFC 9110 9.1).
    public static let invalidMethod = ErrandError(.invalidMethod)
    /// A header's name is no token, or its value has CR, LF or NUL in it (RFC 9110 5.5).
    public static let invalidHeader = ErrandError(.invalidHeader)
    /// The body is malformed, or its length differs from what was said.
    public static let invalidBody = ErrandError(.invalidBody)
    /// A limit or timeout is zero, negative or absurdly large.
    public static let invalidLimit = ErrandError(.invalidLimit)
    /// A connection option has no such value.
    public static let invalidOption = ErrandError(.invalidOption)
    /// A body file, certificate or key cannot be opened.
    public static let fileUnreadable = ErrandError(.fileUnreadable)
    /// This libcurl was built without what was asked for.
    public static let unsupportedFeature = ErrandError(.unsupportedFeature)
    /// The body's encoder failed; see ``underlyingError``.
    public static let requestEncodingFailed = ErrandError(.requestEncodingFailed)
    /// More requests wait than ``Client/Configuration/queueCapacity`` allows.
    public static let queueFull = ErrandError(.queueFull)
    /// The client is shut down, or was while the request ran.
    public static let shutDown = ErrandError(.shutDown)
    /// The process forked after the engine had started; a child must make a client of its own before the parent does.
    public static let forked = ErrandError(.forked)
    /// Memory could not be had.
    public static let outOfMemory = ErrandError(.outOfMemory)
    /// This libcurl version is on the deny-list.
    public static let unsupportedLibrary = ErrandError(.unsupportedLibrary)
    /// The system refused a thread, a loop or a descriptor.
    public static let systemFailure = ErrandError(.systemFailure)
    /// A call that may block was made on a loop thread.
    public static let wrongThread = ErrandError(.wrongThread)
    /// A file, such as the one for cookies, cannot be written.
    public static let fileUnwritable = ErrandError(.fileUnwritable)
    /// The process, or the system, has no descriptor left for a socket or a file (`EMFILE`, `ENFILE`); the message names the
    /// limit. Before a connection fails so, the engine has closed the kept connections of its shards without requests and tried
    /// again for a quarter of a second.
    public static let outOfDescriptors = ErrandError(.outOfDescriptors)
    /// A defect of this library.
    public static let internalFailure = ErrandError(.internalFailure)
    /// The request was stopped. Closures hear of it only where they asked to; `async` callers get
    /// `CancellationError`.
    public static let cancelled = ErrandError(.cancelled)
    /// ``Timeouts/queue`` passed.
    public static let timeoutQueue = ErrandError(.timeoutQueue)
    /// ``Timeouts/connect`` passed.
    public static let timeoutConnect = ErrandError(.timeoutConnect)
    /// ``Timeouts/firstByte`` passed.
    public static let timeoutFirstByte = ErrandError(.timeoutFirstByte)
    /// ``Timeouts/idle`` passed.
    public static let timeoutIdle = ErrandError(.timeoutIdle)
    /// ``Timeouts/total`` passed.
    public static let timeoutTotal = ErrandError(.timeoutTotal)
    /// The host name did not resolve.
    public static let resolveFailed = ErrandError(.resolveFailed)
    /// No address of the host accepted a connection.
    public static let connectFailed = ErrandError(.connectFailed)
    /// Every address of the host was refused by the address filter.
    public static let addressRefused = ErrandError(.addressRefused)
    /// The proxy failed or refused.
    public static let proxyFailed = ErrandError(.proxyFailed)
    /// The TLS handshake failed.
    public static let tlsFailed = ErrandError(.tlsFailed)
    /// The server's certificate is expired, self-signed, for another host, or otherwise not trusted.
    public static let tlsUntrusted = ErrandError(.tlsUntrusted)
    /// The server's key is none of ``ConnectionOptions/TLS/pinnedKeys``.
    public static let tlsPinMismatch = ErrandError(.tlsPinMismatch)
    /// A CA file, client certificate or key cannot be used.
    public static let tlsCredentials = ErrandError(.tlsCredentials)
    /// Sending failed.
    public static let sendFailed = ErrandError(.sendFailed)
    /// The connection ended before any byte of the response, and the request was not sent again.
    public static let connectionLost = ErrandError(.connectionLost)
    /// The connection failed while the response came.
    public static let receiveFailed = ErrandError(.receiveFailed)
    /// The body ended before its announced end; ``response`` has what came.
    public static let partialBody = ErrandError(.partialBody)
    /// The response is not HTTP.
    public static let malformedResponse = ErrandError(.malformedResponse)
    /// The body's content encoding (gzip, ...) is broken or unknown, or ends too early.
    public static let contentDecodingFailed = ErrandError(.contentDecodingFailed)
    /// An HTTP/2 protocol error.
    public static let protocolError = ErrandError(.protocolError)
    /// The request body's source failed.
    public static let uploadFailed = ErrandError(.uploadFailed)
    /// The body had to be sent again but cannot be read again.
    public static let uploadNotReplayable = ErrandError(.uploadNotReplayable)
    /// More body was written than there was credit for.
    public static let uploadOverrun = ErrandError(.uploadOverrun)
    /// ``Limits/headerBytes`` was passed.
    public static let limitHeaderBytes = ErrandError(.limitHeaderBytes)
    /// ``Limits/headerCount`` was passed.
    public static let limitHeaderCount = ErrandError(.limitHeaderCount)
    /// ``Limits/bodyBytes`` was passed.
    public static let limitBodyBytes = ErrandError(.limitBodyBytes)
    /// ``Limits/decodedBytes`` was passed.
    public static let limitDecodedBytes = ErrandError(.limitDecodedBytes)
    /// ``RedirectPolicy/limit`` was passed; ``response`` is the last redirecting response.
    public static let tooManyRedirects = ErrandError(.tooManyRedirects)
    /// A redirect leads from https to http, to what is neither, or to a URL that cannot be sent, whose own error is then
    /// ``underlyingError``; ``response`` is the redirecting response.
    public static let redirectRefused = ErrandError(.redirectRefused)
    /// The status is not one of ``Command/acceptedStatusCodes``; ``response`` is the whole response.
    public static let statusNotAccepted = ErrandError(.statusNotAccepted)
    /// ``Command/decode(_:)`` failed; see ``underlyingError`` and ``response``.
    public static let responseDecodingFailed = ErrandError(.responseDecodingFailed)
    /// The response's content type is none of those that the command takes; ``response`` is the whole response.
    public static let contentTypeNotAccepted = ErrandError(.contentTypeNotAccepted)
    /// The JSON body does not have the shape that the command asks for; ``message`` names the path.
    public static let shapeMismatch = ErrandError(.shapeMismatch)
    /// The command's business validator threw; see ``underlyingError`` and ``response``.
    public static let validationFailed = ErrandError(.validationFailed)
    /// A URL filter, an interceptor, or a closure that makes a step of a chain or a member of a graph threw; see
    /// ``underlyingError``.
    public static let interceptionFailed = ErrandError(.interceptionFailed)
    /// A batch, a chain or a graph failed because a child did; ``groupFailure`` says which, and with what.
    public static let groupFailed = ErrandError(.groupFailed)
    /// Members of a ``RequestGraph`` need each other in a circle, which the error's text names. Nothing was sent.
    public static let dependencyCycle = ErrandError(.dependencyCycle)
    /// An authenticator could not get or refresh a credential; see ``underlyingError``.
    public static let authenticationFailed = ErrandError(.authenticationFailed)
}
