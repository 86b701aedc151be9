package import CErrand
import Glibc

extension ErrandError {
    /// The error for a status of the core; `nil` for `ok`.
    init?(status: Int32) {
        guard status != 0 else { return nil }
        self.init(Code(number: status))
    }

    /// The error of a failed record, with libcurl's text and the part of the response that arrived.
    init(record: errand_record, response: Response?, text: String?) {
        let code = Code(number: record.status)
        self.init(
            code,
            details: Details(
                message: text, curlCode: record.curl_code, systemErrorCode: record.os_error, response: response,
                metrics: TransferMetrics(record), isRefusal: code == .addressRefused))
    }

    /// The error for the status that a call of the core returned; `nil` for `ok`.
    package init?(_ status: errand_status) {
        guard let code = Code(status) else { return nil }
        self.init(code)
    }
}

extension ErrandError.Code {
    /// The number of a status, as in records. Swift converts any number to a closed C enum, and traps when it switches
    /// over one that is not a case; therefore the core is asked first whether the number is known.
    init(number: Int32) {
        let isKnown = strcmp(errand_status_name(number), "UNKNOWN") != 0
        self =
            (isKnown ? errand_status(rawValue: UInt32(bitPattern: number)).flatMap(Self.init) : nil) ?? .internalFailure
    }

    /// `nil` for `ok`. A switch over the closed C enum: a new status does not compile until it has a kind here.
    init?(_ status: errand_status) {
        switch status {
        case .ok: return nil
        case .invalidArgument: self = .invalidArgument
        case .invalidURL: self = .invalidURL
        case .unsupportedScheme: self = .unsupportedScheme
        case .invalidMethod: self = .invalidMethod
        case .invalidHeader: self = .invalidHeader
        case .invalidBody: self = .invalidBody
        case .invalidLimit: self = .invalidLimit
        case .invalidOption: self = .invalidOption
        case .fileUnreadable: self = .fileUnreadable
        case .unsupportedFeature: self = .unsupportedFeature
        case .queueFull: self = .queueFull
        case .shutDown: self = .shutDown
        case .forked: self = .forked
        case .outOfMemory: self = .outOfMemory
        case .unsupportedLibrary: self = .unsupportedLibrary
        case .system: self = .systemFailure
        case .wrongThread: self = .wrongThread
        case .fileUnwritable: self = .fileUnwritable
        case .outOfDescriptors: self = .outOfDescriptors
        case .internal: self = .internalFailure
        case .cancelled: self = .cancelled
        case .timeoutQueue: self = .timeoutQueue
        case .timeoutConnect: self = .timeoutConnect
        case .timeoutFirstByte: self = .timeoutFirstByte
        case .timeoutIdle: self = .timeoutIdle
        case .timeoutTotal: self = .timeoutTotal
        case .resolveFailed: self = .resolveFailed
        case .connectFailed: self = .connectFailed
        case .addressRefused: self = .addressRefused
        case .proxyFailed: self = .proxyFailed
        case .tlsFailed: self = .tlsFailed
        case .tlsUntrusted: self = .tlsUntrusted
        case .tlsPinMismatch: self = .tlsPinMismatch
        case .tlsCredentials: self = .tlsCredentials
        case .sendFailed: self = .sendFailed
        case .connectionLost: self = .connectionLost
        case .receiveFailed: self = .receiveFailed
        case .partialBody: self = .partialBody
        case .malformedResponse: self = .malformedResponse
        case .decodingFailed: self = .contentDecodingFailed
        case .protocolError: self = .protocolError
        case .uploadFailed: self = .uploadFailed
        case .uploadNotReplayable: self = .uploadNotReplayable
        case .uploadOverrun: self = .uploadOverrun
        case .limitHeaderBytes: self = .limitHeaderBytes
        case .limitHeaderCount: self = .limitHeaderCount
        case .limitBodyBytes: self = .limitBodyBytes
        case .limitDecodedBytes: self = .limitDecodedBytes
        }
    }
}
