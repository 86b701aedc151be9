import CErrand

extension ToolError {
    /// A status of the core in the words that the Swift layer uses for it.
    init(_ status: errand_status, words: String? = nil) {
        let text = String(cString: errand_status_text(Int32(status.rawValue)))
        // Where the core itself ended it, libcurl only knows that it was told to stop.
        let message = ExitStatus(status).isOurs ? text : words.flatMap { $0.isEmpty ? nil : $0 } ?? text
        self.init(ExitStatus(status), "\(status.label): \(message)")
    }
}

extension errand_status {
    /// The name that ``ErrandError/shortDescription`` has for it: `TIMEOUT_IDLE` is `timeoutIdle`.
    var label: String {
        switch self {
        case .decodingFailed: return "contentDecodingFailed"
        case .system: return "systemFailure"
        case .internal: return "internalFailure"
        default: break
        }
        let words = String(cString: errand_status_name(Int32(rawValue))).split(separator: "_")
        let tail = words.dropFirst().map { $0 == "URL" ? "URL" : $0.prefix(1) + $0.dropFirst().lowercased() }
        return (words.first?.lowercased() ?? "") + tail.joined()
    }
}

extension ExitStatus {
    /// Whether the engine ended the request by a rule of ours, so that libcurl's words would mislead.
    var isOurs: Bool {
        switch self {
        case .limit, .timeout: true
        default: false
        }
    }

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
        case .outOfMemory, .system, .outOfDescriptors, .unsupportedLibrary, .queueFull, .fileUnwritable: self = .system
        case .cancelled, .shutDown: self = .interrupted
        case .invalidArgument, .invalidURL, .unsupportedScheme, .invalidMethod, .invalidHeader, .invalidBody,
            .invalidLimit, .invalidOption, .unsupportedFeature:
            self = .usage
        case .forked, .wrongThread, .internal: self = .internalFailure
        }
    }
}
