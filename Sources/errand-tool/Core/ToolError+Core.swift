import CErrand

extension ToolError {
    /// A status of the core in the words that the Swift layer uses for it.
    init(_ status: errand_status, words: String? = nil) {
        let text = String(cString: errand_status_text(Int32(status.rawValue)))
        let message = words.flatMap { $0.isEmpty ? nil : $0 } ?? text
        self.init(ExitStatus(status), "\(status): \(message)")
    }
}

extension ExitStatus {
    /// The same kinds as ``init(_:)-(ErrandError)``. A switch without a default: a new status does not compile until it
    /// has an exit code.
    init(_ status: errand_status) {
        switch status {
        case .ok: self = .success
        case .resolveFailed: self = .resolve
        case .connectFailed, .addressRefused, .proxyFailed: self = .connect
        case .tlsFailed, .tlsUntrusted, .tlsPinMismatch: self = .tls
        case .timeoutQueue, .timeoutConnect, .timeoutFirstByte, .timeoutIdle, .timeoutTotal: self = .timeout
        case .sendFailed, .connectionLost, .receiveFailed, .partialBody, .uploadFailed, .uploadNotReplayable,
            .uploadOverrun:
            self = .connectionLost
        case .malformedResponse, .decodingFailed, .protocolError: self = .badResponse
        case .limitHeaderBytes, .limitHeaderCount, .limitBodyBytes, .limitDecodedBytes: self = .limit
        case .fileUnreadable, .tlsCredentials: self = .inputFile
        case .outOfMemory, .system, .unsupportedLibrary, .queueFull: self = .system
        case .cancelled, .shutDown: self = .interrupted
        case .invalidArgument, .invalidURL, .unsupportedScheme, .invalidMethod, .invalidHeader, .invalidBody,
            .invalidLimit, .invalidOption, .unsupportedFeature:
            self = .usage
        case .forked, .wrongThread, .internal: self = .internalFailure
        }
    }
}
