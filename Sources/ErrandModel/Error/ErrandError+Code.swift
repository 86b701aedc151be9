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
        case dependencyCycle, cacheMiss
        case diskFull, directoryMissing, fileAccessDenied, fileIsDirectory, fileExists, fileLocked
        case lengthMismatch, digestMismatch
        case webSocketHandshakeFailed, webSocketProtocolError, webSocketMessageTooBig, webSocketClosed

        /// One lower-case sentence without a full stop.
        var text: String {
            switch self {
            case .invalidArgument: "an argument is not valid"
            case .invalidURL: "the URL is malformed"
            case .unsupportedScheme: "only http and https are sent"
            case .invalidMethod: "the method is not an HTTP token"
            case .invalidHeader: "a header name or value is malformed"
            case .invalidBody: "the body cannot be sent as it is"
            case .invalidLimit: "a limit or timeout is out of range"
            case .invalidOption: "an option has no such value"
            case .fileUnreadable: "a file cannot be opened for reading"
            case .unsupportedFeature: "this libcurl was built without that feature"
            case .requestEncodingFailed: "the request body cannot be encoded"
            case .queueFull: "too many requests are waiting"
            case .shutDown: "the client is shut down"
            case .forked: "the engine belongs to the parent process"
            case .outOfMemory: "out of memory"
            case .unsupportedLibrary: "this libcurl version is known to be broken"
            case .systemFailure: "the system refused a thread, a loop or a descriptor"
            case .wrongThread: "not allowed on a loop thread"
            case .fileUnwritable: "a file cannot be written"
            case .outOfDescriptors: "no descriptor is left for a socket or file"
            case .internalFailure: "internal error"
            case .cancelled: "cancelled"
            case .timeoutQueue: "waited too long for admission"
            case .timeoutConnect: "connecting took too long"
            case .timeoutFirstByte: "no response in time"
            case .timeoutIdle: "no bytes moved for too long"
            case .timeoutTotal: "the request took too long"
            case .resolveFailed: "the host name did not resolve"
            case .connectFailed: "the connection was not established"
            case .addressRefused: "the address filter refused"
            case .proxyFailed: "the proxy failed or refused"
            case .tlsFailed: "the TLS handshake failed"
            case .tlsUntrusted: "the server's certificate is not trusted"
            case .tlsPinMismatch: "no pinned key matched"
            case .tlsCredentials: "a CA file, client certificate or key cannot be used"
            case .sendFailed: "sending failed"
            case .connectionLost: "the connection ended before the response began"
            case .receiveFailed: "receiving failed"
            case .partialBody: "the response body is incomplete"
            case .malformedResponse: "the response is malformed"
            case .contentDecodingFailed: "the content encoding is broken or unknown"
            case .protocolError: "an HTTP/2 protocol error"
            case .uploadFailed: "the request body's source failed"
            case .uploadNotReplayable: "the request body had to be sent again but cannot be rewound"
            case .uploadOverrun: "more body was written than there was credit for"
            case .limitHeaderBytes: "the header is too large"
            case .limitHeaderCount: "too many header fields"
            case .limitBodyBytes: "the body is too large"
            case .limitDecodedBytes: "the body is too large once decompressed"
            case .tooManyRedirects: "too many redirects"
            case .redirectRefused: "the redirect leads where it must not"
            case .statusNotAccepted: "the status was not accepted"
            case .responseDecodingFailed: "the response cannot be decoded"
            case .contentTypeNotAccepted: "the content type was not accepted"
            case .shapeMismatch: "the JSON does not have the shape asked for"
            case .validationFailed: "the response was not accepted by its validator"
            case .interceptionFailed: "an interceptor or filter failed or refused"
            case .groupFailed: "a child of the group failed"
            case .dependencyCycle: "members of a graph need each other in a circle"
            case .cacheMiss: "no stored response may be used"
            case .authenticationFailed: "no credential could be had"
            case .diskFull: "the disk, a quota or a limit of file size is full"
            case .directoryMissing: "the directory does not exist"
            case .fileAccessDenied: "no permission to write the file"
            case .fileIsDirectory: "a directory is where the file is to be"
            case .fileExists: "the file exists already"
            case .fileLocked: "another download writes the file"
            case .lengthMismatch: "the content is not as long as promised or expected"
            case .digestMismatch: "the content is not the one expected"
            case .webSocketHandshakeFailed: "the server's answer does not open a WebSocket"
            case .webSocketProtocolError: "the server broke the WebSocket protocol"
            case .webSocketMessageTooBig: "a WebSocket message is too big"
            case .webSocketClosed: "the WebSocket is closed"
            }
        }
    }
}
