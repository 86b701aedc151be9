import Errand
import Foundation
import HTTPTypes

/// The result of one URL.
struct FetchResult: Sendable {
    /// What went wrong: a stable name for programs, and a message for people.
    struct Failure: Sendable {
        let name: String
        let message: String
        let exit: ExitStatus
        var curlCode: Int?
        var systemErrorCode: Int?
    }

    let url: String
    /// The URL after all redirects; `url` without any.
    var finalURL: String
    var redirects = 0
    /// How often the request was retried.
    var retries = 0
    /// The status code; 0: no response.
    var status = 0
    /// Status line and fields, each ended by CRLF.
    var head: [UInt8] = []
    var headers = HTTPFields()
    /// Whether the tool has begun to receive the body.
    var isReceived = false
    /// The decoded bytes of the body that were received.
    var bodyBytes: UInt64 = 0
    /// The file that holds the complete body.
    var savedTo: String?
    var metrics = TransferMetrics()
    var failure: Failure?

    init(url: String) {
        self.url = url
        finalURL = url
    }

    /// Whether the response is a redirect (RFC 9110 15.4) with a `Location`.
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) && headers[.location] != nil }

    /// Whether a redirect led to another scheme, host or port.
    var hasLeftOrigin: Bool { !CredentialOrigins.areSame(url, finalURL) }
}

extension FetchResult.Failure {
    /// `url`: the URL as given on the command line.
    init(_ error: ErrandError, of url: String? = nil) {
        self.init(
            name: error.shortDescription, message: url.map { ToolError.text(error, of: $0) } ?? ToolError.text(error),
            exit: ExitStatus(error),
            curlCode: error.curlCode, systemErrorCode: error.systemErrorCode)
    }

    static let cancelled = Self(name: "cancelled", message: "cancelled", exit: .interrupted)

    static let binary = Self(
        name: "outputFile",
        message: "the body is binary and may garble the terminal; use -o FILE to save it or -o - to print it anyway",
        exit: .outputFile)

    static func status(_ response: Response) -> Self {
        let hint = response.statusCode == 401 ? unauthorized(response.headers) : nil
        let message = hint ?? "the server responded with status \(response.statusCode)"
        return Self(name: "httpStatus", message: message, exit: .httpStatus)
    }

    /// `user`: the user whose credentials were given.
    /// `wasAsked`: whether the credentials were sent to the server that answered, which then refused them.
    static func unauthorized(_ headers: HTTPFields, user: String? = nil, wasAsked: Bool = true) -> String {
        let offers = headers[values: .wwwAuthenticate].joined(separator: ", ")
        var message = "the server responded with status 401"
        if let user, wasAsked { message += " and rejected the credentials of '\(user)'" }
        if !offers.isEmpty { message += "; it requests \(offers)" }
        guard let user else { return message + "; use -u USER:PASSWORD to send credentials" }
        return wasAsked
            ? message
            : message + "; the credentials of '\(user)' were not sent, because a redirect led to another origin"
    }

    static func output(_ path: String, errno number: Int32) -> Self {
        let reason = SystemError(number).text
        return Self(
            name: "outputFile", message: "cannot write '\(path)': \(reason)",
            exit: number == EPIPE ? .brokenPipe : .outputFile, systemErrorCode: Int(number))
    }
}

extension FetchResult {
    /// Copies the values of a response.
    mutating func take(_ response: Response) {
        status = response.statusCode
        head = response.rawHead
        headers = response.headers
        take(response.metrics)
    }

    /// Merges the metrics from the end of the transfer, which lack the values that only the head has.
    mutating func take(_ metrics: TransferMetrics) {
        let former = self.metrics
        self.metrics = metrics
        self.metrics.remoteAddress = metrics.remoteAddress ?? former.remoteAddress
        self.metrics.httpVersion = metrics.httpVersion ?? former.httpVersion
    }

    var json: PrintedJSON {
        .object([
            ("url", .string(Shown.url(url))),
            ("final_url", .string(Shown.url(finalURL))),
            ("status", status == 0 ? .null : .integer(status)),
            ("http_version", .optional(metrics.httpVersion)),
            (
                "headers",
                .array(headers.map { .array([.string($0.name.rawName.lowercased()), .string($0.value)]) })
            ),
            ("body_bytes", .integer(bodyBytes)),
            ("wire_bytes_received", .integer(metrics.bytesReceived)),
            ("wire_bytes_sent", .integer(metrics.bytesSent)),
            ("redirects", .integer(redirects)),
            ("retries", .integer(retries)),
            ("connection_reused", .bool(metrics.isConnectionReused)),
            ("remote_address", .optional(metrics.remoteAddress)),
            ("timings_microseconds", timings),
            ("output", .optional(savedTo)),
            ("error", failure.map(\.json) ?? .null),
        ])
    }

    private var timings: PrintedJSON {
        func microseconds(_ duration: Duration?) -> PrintedJSON {
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
    var json: PrintedJSON {
        .object([
            ("kind", .string(name)), ("message", .string(message)), ("exit_code", .integer(exit.rawValue)),
            ("curl_code", curlCode.map { .integer($0) } ?? .null),
            ("errno", systemErrorCode.map { .integer($0) } ?? .null),
        ])
    }
}
