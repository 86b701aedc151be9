import ArgumentParser
import Errand

/// The exit codes, by kind of failure. Scripts depend on them: existing codes never change, new ones are appended.
enum ExitStatus: Int32, CaseIterable {
    case success = 0
    case resolve = 10
    case connect = 11
    case tls = 12
    case timeout = 13
    case connectionLost = 14
    case badResponse = 15
    case limit = 16
    case redirect = 17
    case httpStatus = 22
    case expectation = 23
    case usage = 64
    case inputData = 65
    case inputFile = 66
    case internalFailure = 70
    case system = 71
    case outputFile = 73
    case noRequest = 98
    case threshold = 99
    case hangup = 129
    case interrupted = 130
    case brokenPipe = 141
    case terminated = 143

    var meaning: String {
        switch self {
        case .success:
            "every request got a response (bench: at least one; batch, chain: a status of 200 to 299, or as expected)"
        case .resolve: "the host name could not be resolved"
        case .connect: "the connection failed: refused, unreachable, or a proxy error"
        case .tls: "TLS failed: handshake, the server's certificate, or a pin"
        case .timeout: "a timeout expired"
        case .connectionLost: "the connection ended before the response was complete"
        case .badResponse:
            "the response is not valid HTTP, its encoding is malformed, or a download is not the expected file"
        case .limit: "the response exceeds a limit"
        case .redirect: "too many redirects, or a redirect to a target that is not allowed"
        case .httpStatus:
            "with --fail: status 400 or above; batch, chain: not 200 to 299; download: neither 200 nor 206"
        case .expectation: "batch, chain: the response does not meet an expectation of the file ('@expect' or '??')"
        case .usage: "usage error: an option, URL, method, header or limit is not valid"
        case .inputData: "a .http or environment file, a plan, data or a result is not valid, or a variable is missing"
        case .inputFile: "a file to send cannot be read, or a certificate or key file cannot be read or used"
        case .internalFailure: "an internal error occurred"
        case .system:
            "no memory, thread or descriptor is available, the queue is full, or this libcurl is not supported"
        case .outputFile: "the output cannot be written; download: the file exists, or another download is writing it"
        case .noRequest: "bench: a load test sent no request, or all iterations of its users failed"
        case .threshold:
            "bench: a threshold is not met; bench compare: a figure is worse, or the second run is incomplete"
        case .hangup: "ended by SIGHUP, after cleaning up"
        case .interrupted: "interrupted (SIGINT)"
        case .brokenPipe: "ended by SIGPIPE, without a message: the reader of the output, such as head, has exited"
        case .terminated: "ended by SIGTERM, after cleaning up"
        }
    }

    static var help: String {
        let rows = allCases.map { status in
            let code = String(status.rawValue)
            return "  " + String(repeating: " ", count: 3 - code.count) + code + "  " + status.meaning
        }
        return "EXIT CODES\n" + rows.joined(separator: "\n")
            + "\n  If several URLs or requests fail, the first one on the command line counts."
    }

    var code: ExitCode { ExitCode(rawValue) }
}

extension ExitStatus {
    init(_ error: ErrandError) {
        switch error {
        case .resolveFailed: self = .resolve
        case .connectFailed, .addressRefused, .proxyFailed: self = .connect
        case .tlsFailed, .tlsUntrusted, .tlsPinMismatch: self = .tls
        case .timeoutQueue, .timeoutConnect, .timeoutFirstByte, .timeoutIdle, .timeoutTotal, .deadlineExceeded:
            self = .timeout
        case .sendFailed, .connectionLost, .receiveFailed, .partialBody, .uploadFailed, .uploadNotReplayable:
            self = .connectionLost
        case .malformedResponse, .contentDecodingFailed, .protocolError, .responseDecodingFailed, .lengthMismatch,
            .digestMismatch:
            self = .badResponse
        case .diskFull, .directoryMissing, .fileAccessDenied, .fileIsDirectory, .fileExists, .fileLocked,
            .fileUnwritable:
            self = .outputFile
        case .limitHeaderBytes, .limitHeaderCount, .limitBodyBytes, .limitDecodedBytes: self = .limit
        case .tooManyRedirects, .redirectRefused: self = .redirect
        case .statusNotAccepted: self = .httpStatus
        case .fileUnreadable, .tlsCredentials: self = .inputFile
        case .outOfMemory, .systemFailure, .outOfDescriptors, .unsupportedLibrary, .queueFull: self = .system
        case .cancelled, .shutDown: self = .interrupted
        case .invalidArgument, .invalidURL, .unsupportedScheme, .invalidMethod, .invalidHeader, .invalidBody,
            .invalidLimit, .invalidOption, .unsupportedFeature, .requestEncodingFailed:
            self = .usage
        default: self = .internalFailure
        }
    }
}
