import Errand
import HTTPTypes

/// How one URL ended.
struct FetchResult: Sendable {
    enum Body: Sendable {
        case none
        case memory(Response.Body)
        case file(path: String, bytes: UInt64)

        var count: UInt64 {
            switch self {
            case .none: 0
            case .memory(let body): UInt64(body.count)
            case .file(_, let bytes): bytes
            }
        }
    }

    /// What went wrong: a stable name for programs, words for people.
    struct Failure: Sendable {
        let name: String
        let message: String
        let exit: ExitStatus
        var curlCode: Int?
        var systemErrorCode: Int?
    }

    let url: String
    /// Where redirects led; `url` without any.
    var finalURL: String
    var redirects = 0
    /// 0: no response.
    var status = 0
    /// Status line and fields, each ended by CRLF.
    var head: [UInt8] = []
    var headers = HTTPFields()
    var body = Body.none
    var metrics = TransferMetrics()
    var failure: Failure?

    init(url: String) {
        self.url = url
        finalURL = url
    }
}

extension FetchResult.Failure {
    init(_ error: ErrandError) {
        self.init(
            name: error.shortDescription, message: ToolError.text(error), exit: ExitStatus(error),
            curlCode: error.curlCode, systemErrorCode: error.systemErrorCode)
    }

    static func status(_ status: Int) -> Self {
        Self(name: "httpStatus", message: "the server answered \(status)", exit: .httpStatus)
    }

    static func output(_ path: String, _ reason: String) -> Self {
        Self(name: "outputFile", message: "cannot write '\(path)': \(reason)", exit: .outputFile)
    }
}

extension FetchResult {
    /// Takes what a response says.
    mutating func take(_ response: Response) {
        status = response.statusCode
        head = response.rawHead
        headers = response.headers
        metrics = response.metrics
    }

    var json: JSONValue {
        .object([
            ("url", .string(url)),
            ("final_url", .string(finalURL)),
            ("status", status == 0 ? .null : .integer(status)),
            ("http_version", .optional(metrics.httpVersion)),
            (
                "headers",
                .array(headers.map { .array([.string($0.name.rawName.lowercased()), .string($0.value)]) })
            ),
            ("body_bytes", .integer(body.count)),
            ("wire_bytes_received", .integer(metrics.bytesReceived)),
            ("wire_bytes_sent", .integer(metrics.bytesSent)),
            ("redirects", .integer(redirects)),
            ("connection_reused", .bool(metrics.isConnectionReused)),
            ("remote_address", .optional(metrics.remoteAddress)),
            ("timings_microseconds", timings),
            ("output", outputPath),
            ("error", failure.map(\.json) ?? .null),
        ])
    }

    private var outputPath: JSONValue {
        if case .file(let path, _) = body { .string(path) } else { .null }
    }

    private var timings: JSONValue {
        func microseconds(_ duration: Duration?) -> JSONValue {
            duration.map { .integer($0.nanoseconds / 1_000) } ?? .null
        }
        return .object([
            ("queue", microseconds(metrics.queue)), ("resolved", microseconds(metrics.resolved)),
            ("connected", microseconds(metrics.connected)), ("secured", microseconds(metrics.secured)),
            ("sent", microseconds(metrics.sent)), ("first_byte", microseconds(metrics.firstByte)),
            ("total", microseconds(metrics.total)),
        ])
    }
}

extension FetchResult.Failure {
    var json: JSONValue {
        .object([
            ("kind", .string(name)), ("message", .string(message)), ("exit_code", .integer(exit.rawValue)),
            ("curl_code", curlCode.map { .integer($0) } ?? .null),
            ("errno", systemErrorCode.map { .integer($0) } ?? .null),
        ])
    }
}
