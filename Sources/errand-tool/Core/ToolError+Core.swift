import CErrand

extension ToolError {
    /// Describes a status of the core in the same words as the Swift layer.
    init(_ status: errand_status, words: String? = nil) {
        let text = String(cString: errand_status_text(Int32(status.rawValue)))
        // When the core itself ended the transfer, libcurl's message only says that the transfer was aborted.
        let message = ExitStatus(status).isOurs ? text : words.flatMap { $0.isEmpty ? nil : $0 } ?? text
        self.init(ExitStatus(status), "\(status.label): \(message)")
    }
}

extension errand_status {
    /// The name of the status as in ``ErrandError/shortDescription``: `TIMEOUT_IDLE` is `timeoutIdle`.
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
    /// Whether one of the engine's own rules ended the request. In that case libcurl's message would be misleading.
    var isOurs: Bool {
        switch self {
        case .limit, .timeout: true
        default: false
        }
    }

    /// The same exit codes as ``init(_:)-(ErrandError)``. The switch has no default: a new status does not compile
    /// until it has an exit code.
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
