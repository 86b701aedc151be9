import Errand
import Foundation
import HTTPTypes

/// What one run does.
struct BenchPlan: Sendable {
    enum Mode: String, CaseIterable, Sendable {
        case core, closure
        /// As `closure`, but that callbacks run on the loop's thread.
        case closureInline = "closure-inline"
        case async
        /// As `async`, the client's callback queue being the executor of all tasks.
        case asyncOnQueue = "async-on-queue"
        case batch
    }

    /// What answers all but the first request.
    enum Cache: String, CaseIterable, Sendable {
        /// In memory, by a time to live.
        case memory
        /// In memory, by RFC 9111: the server has to say for how long.
        case memoryHTTP = "memory-http"
        /// In a SQLite file that is made for the run, by a time to live.
        case sqlite
    }

    /// When the measured part is over: after so many requests, after so long, or at what comes first.
    var requests: UInt64?
    var duration: Duration?
    /// Requests before the measured part, and how long they may take; `nil`: as long as they need.
    var warmUp: UInt64
    var warmUpTime: Duration?
    /// Requests a second, sent whether or not earlier ones were answered; `nil`: each answer brings the next request.
    var rate: Double?
    /// Of the rate, in nanoseconds: what is due is sent at its next multiple; 0: each request at its own time.
    var tick: UInt64 = 0
    var connections: Int
    /// 0: the engine's default.
    var loops: Int
    var mode: Mode
    /// `nil`: the network answers.
    var cache: Cache?

    var method: HTTPRequest.Method
    var url: String
    var headers: HTTPFields
    var body: Data?
    var timeout: Duration
    var httpVersion: HTTPVersionArgument
    var caFile: String?
    var insecure: Bool

    /// At most this many bytes of one response are taken: no limit where they are dropped.
    var bodyLimit: Int { cache == nil ? 1 << 50 : 1 << 30 }

    /// The request as the Swift modes send it: a path below the client's base URL, as a service would say it; fields
    /// and limits are the client's too.
    var command: BenchCommand {
        BenchCommand(
            method: method, path: path, body: body.map { .data($0, contentType: nil) } ?? .empty, cache: cachePolicy)
    }

    private var cachePolicy: CachePolicy? {
        switch cache {
        case .memory, .sqlite: .timed(.seconds(86_400))
        case .memoryHTTP: .http
        case nil: nil
        }
    }

    /// The URL up to its path; `nil` where it cannot be told.
    var baseURL: String? {
        pathStart.map { String(url[..<$0]) }
    }

    private var path: String {
        pathStart.map { String(url[$0...]) } ?? url
    }

    private var pathStart: String.Index? {
        // Anything else stays whole, so that the client takes or refuses it as what it is: a reference that begins with
        // `//` or `?` would be another host or path below a base URL.
        guard let scheme = url.range(of: "://"), ["http", "https"].contains(url[..<scheme.lowerBound]) else {
            return nil
        }
        let rest = url[scheme.upperBound...]
        guard let end = rest.firstIndex(where: { "/?#".contains($0) }), end > rest.startIndex,
            rest[end...].hasPrefix("/"), !rest[end...].hasPrefix("//")
        else { return nil }
        return end
    }

    var connection: ConnectionOptions {
        var options = ConnectionOptions(httpVersion: httpVersion.policy, encodings: [])
        options.tls.caFile = caFile
        options.tls.insecureAcceptAnyCertificate = insecure
        options.tls.insecureAcceptAnyHostName = insecure
        return options
    }
}
