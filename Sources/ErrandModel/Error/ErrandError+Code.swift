extension ErrandError {
    /// The closed set behind the static members; private to the module so that it may grow. The raw value is the name
    /// used in metrics and never changes.
    package enum Code: String, Sendable, CaseIterable {
        case invalidArgument, invalidURL, unsupportedScheme, invalidMethod, invalidHeader, invalidBody, invalidLimit
        case invalidOption, fileUnreadable, unsupportedFeature, requestEncodingFailed, queueFull, shutDown, forked
        case outOfMemory, unsupportedLibrary, systemFailure, wrongThread, fileUnwritable, outOfDescriptors
        case internalFailure, cancelled, timeoutQueue
        case timeoutConnect, timeoutFirstByte, timeoutIdle, timeoutTotal, resolveFailed, connectFailed, addressRefused
        case proxyFailed, tlsFailed, tlsUntrusted, tlsPinMismatch, tlsCredentials, sendFailed, connectionLost
        case receiveFailed, partialBody, malformedResponse, contentDecodingFailed, protocolError, uploadFailed
        case uploadNotReplayable, uploadOverrun, limitHeaderBytes, limitHeaderCount, limitBodyBytes, limitDecodedBytes
        case tooManyRedirects, redirectRefused, statusNotAccepted, responseDecodingFailed
        case contentTypeNotAccepted, shapeMismatch, validationFailed, interceptionFailed, authenticationFailed,
            groupFailed
        case dependencyCycle, cacheMiss, circuitOpen, limitExceeded, noEndpoint, deadlineExceeded
        case diskFull, directoryMissing, fileAccessDenied, fileIsDirectory, fileExists, fileLocked
        case lengthMismatch, digestMismatch
        case webSocketHandshakeFailed, webSocketProtocolError, webSocketMessageTooBig, webSocketClosed
        case unexpectedRequest

        /// One lower-case sentence without a full stop.
        var text: String {
            switch self {
            case .invalidArgument: "an argument is invalid"
            case .invalidURL: "the URL is malformed"
            case .unsupportedScheme: "the URL's scheme is not supported; expected http or https"
            case .invalidMethod: "the method is not a valid HTTP token"
            case .invalidHeader: "a header name or value is malformed"
            case .invalidBody: "the request body is invalid"
            case .invalidLimit: "a limit or timeout is out of range"
            case .invalidOption: "an option has an invalid value"
            case .fileUnreadable: "a file cannot be opened for reading"
            case .unsupportedFeature: "libcurl was built without the required feature"
            case .requestEncodingFailed: "the request body cannot be encoded"
            case .queueFull: "the request queue is full"
            case .shutDown: "the client is shut down"
            case .forked: "the engine was created before a fork and works only in the parent process"
            case .outOfMemory: "out of memory"
            case .unsupportedLibrary: "this version of libcurl has known defects and is not supported"
            case .systemFailure: "the system could not create a thread, an event loop or a descriptor"
            case .wrongThread: "the call is not allowed on an event loop thread"
            case .fileUnwritable: "a file cannot be written"
            case .outOfDescriptors: "the limit of open file descriptors was reached"
            case .internalFailure: "an internal error occurred"
            case .cancelled: "the request was cancelled"
            case .timeoutQueue: "the queue timeout expired before the request was started"
            case .timeoutConnect: "the connect timeout expired before the connection was established"
            case .timeoutFirstByte: "the first-byte timeout expired before the response began"
            case .timeoutIdle: "the idle timeout expired while no data was transferred"
            case .timeoutTotal: "the total timeout expired before the request ended"
            case .resolveFailed: "the host name could not be resolved"
            case .connectFailed: "the connection could not be established"
            case .addressRefused: "the address filter rejected the address"
            case .proxyFailed: "the proxy failed or refused the connection"
            case .tlsFailed: "the TLS handshake failed"
            case .tlsUntrusted: "the server's certificate is not trusted"
            case .tlsPinMismatch: "the server's public key matches no pinned key"
            case .tlsCredentials: "a CA file, client certificate or key cannot be used"
            case .sendFailed: "sending the request failed"
            case .connectionLost: "the connection ended before the response began"
            case .receiveFailed: "receiving the response failed"
            case .partialBody: "the response body is incomplete"
            case .malformedResponse: "the response is malformed"
            case .contentDecodingFailed: "the content encoding is malformed or not supported"
            case .protocolError: "an HTTP/2 protocol error occurred"
            case .uploadFailed: "the request body's source failed"
            case .uploadNotReplayable: "the request body must be sent again but cannot be rewound"
            case .uploadOverrun: "more of the request body was written than its credit allowed"
            case .limitHeaderBytes: "the response header is larger than its limit"
            case .limitHeaderCount: "the response has more header fields than its limit"
            case .limitBodyBytes: "the response body is larger than its limit"
            case .limitDecodedBytes: "the decoded response body is larger than its limit"
            case .tooManyRedirects: "the limit of redirects was reached"
            case .redirectRefused: "the redirect's target is not allowed"
            case .statusNotAccepted: "the status was not accepted"
            case .responseDecodingFailed: "the response cannot be decoded"
            case .contentTypeNotAccepted: "the content type was not accepted"
            case .shapeMismatch: "the JSON value does not have the expected shape"
            case .validationFailed: "the validator rejected the response"
            case .interceptionFailed: "an interceptor or filter failed or rejected the request"
            case .groupFailed: "a child of the group failed"
            case .dependencyCycle: "the members of the graph depend on each other in a cycle"
            case .cacheMiss: "the cache has no usable response"
            case .circuitOpen: "the circuit breaker of the origin is open"
            case .limitExceeded: "a limit of requests in flight or of their rate was reached"
            case .noEndpoint: "no endpoint of the base URL may be used"
            case .deadlineExceeded: "no time was left before the deadline, so nothing was sent"
            case .authenticationFailed: "no credential is available"
            case .diskFull: "the disk is full, or a quota or file size limit was reached"
            case .directoryMissing: "the directory does not exist"
            case .fileAccessDenied: "the permission to write the file was denied"
            case .fileIsDirectory: "the path of the file is a directory"
            case .fileExists: "the file already exists"
            case .fileLocked: "another download is writing the file"
            case .lengthMismatch: "the content does not have the announced or expected length"
            case .digestMismatch: "the content does not have the expected digest"
            case .webSocketHandshakeFailed: "the server did not accept the WebSocket handshake"
            case .webSocketProtocolError: "the server violated the WebSocket protocol"
            case .webSocketMessageTooBig: "a WebSocket message is larger than its limit"
            case .webSocketClosed: "the WebSocket is closed"
            case .unexpectedRequest: "the test has no answer for the request"
            }
        }
    }
}
