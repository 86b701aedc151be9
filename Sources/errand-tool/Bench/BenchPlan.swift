import Errand
import Foundation
import HTTPTypes

/// What one run does.
struct BenchPlan: Sendable {
    enum Mode: String, CaseIterable, Sendable {
        case core, closure, async
    }

    /// When the measured part is over: after so many requests, after so long, or at what comes first.
    var requests: UInt64?
    var duration: Duration?
    /// Requests before the measured part.
    var warmUp: UInt64
    /// Requests a second, sent whether or not earlier ones were answered; `nil`: each answer brings the next request.
    var rate: Double?
    var connections: Int
    /// 0: the engine's default.
    var loops: Int
    var mode: Mode

    var method: HTTPRequest.Method
    var url: String
    var headers: HTTPFields
    var body: Data?
    var timeout: Duration
    var httpVersion: HTTPVersionArgument
    var caFile: String?
    var insecure: Bool

    /// At most this many bytes of one response are kept.
    static let bodyLimit = 1 << 30

    /// The request as the Swift modes send it: a path below the client's base URL, as a service would say it; fields
    /// and limits are the client's too.
    var command: BenchCommand {
        BenchCommand(method: method, path: path, body: body.map { .data($0, contentType: nil) } ?? .none)
    }

    /// The URL up to its path; `nil` where it cannot be told.
    var baseURL: String? {
        pathStart.map { String(url[..<$0]) }
    }

    private var path: String {
        pathStart.map { String(url[$0...]) } ?? url
    }

    private var pathStart: String.Index? {
        // Anything else stays whole, so that the client refuses it as what it is.
        guard let authority = url.range(of: "://"), ["http", "https"].contains(url[..<authority.lowerBound]),
            !url[authority.upperBound...].hasPrefix("/")
        else { return nil }
        return url[authority.upperBound...].firstIndex(of: "/")
    }

    var connection: ConnectionOptions {
        var options = ConnectionOptions(httpVersion: httpVersion.policy)
        options.tls.caFile = caFile
        options.tls.insecureAcceptAnyCertificate = insecure
        options.tls.insecureAcceptAnyHostName = insecure
        return options
    }
}
