import Errand
import Foundation
import HTTPTypes

/// The settings of one run.
struct BenchPlan: Sendable {
    enum Mode: String, CaseIterable, Sendable {
        case core, closure
        /// Like `closure`, but callbacks run on the loop's thread.
        case closureInline = "closure-inline"
        case async
        /// Like `async`, but the client's callback queue is the executor of all tasks.
        case asyncOnQueue = "async-on-queue"
        case batch
    }

    /// The cache that answers every request except the first.
    enum Cache: String, CaseIterable, Sendable {
        /// In memory, with a time to live.
        case memory
        /// In memory, by RFC 9111: the server has to send the freshness lifetime.
        case memoryHTTP = "memory-http"
        /// In a SQLite file that is created for the run, with a time to live.
        case sqlite
    }

    /// The measured part ends after this number of requests, after this time, or at whichever limit is reached first.
    var requests: UInt64?
    var duration: Duration?
    /// The requests before the measured part, and the time limit for them; `nil`: no time limit.
    var warmUp: UInt64
    var warmUpTime: Duration?
    /// Requests per second, sent whether or not earlier ones were answered; `nil`: each response starts the next
    /// request.
    var rate: Double?
    /// Nanoseconds between sends at a fixed rate: requests that are due are sent at the next multiple. 0: each request
    /// is sent at its own time.
    var tick: UInt64 = 0
    var connections: Int
    /// 0: the engine's default.
    var loops: Int
    var mode: Mode
    /// `nil`: the network answers every request.
    var cache: Cache?

    var method: HTTPRequest.Method
    var url: String
    var headers: HTTPFields
    var body: Data?
    var timeout: Duration
    var httpVersion: HTTPVersionArgument
    var caFile: String?
    var insecure: Bool
    /// What the client does about failures; `nil`: it does nothing.
    var resilience: Resilience?
    /// HTTP/2 streams per connection; `nil`: the engine's default.
    var streams: Int?
    /// The connection options of the command line; `nil`: the options follow from the members above.
    var given: ConnectionOptions?

    /// The largest accepted size of one response in bytes; practically no limit if bodies are dropped.
    var bodyLimit: Int { cache == nil ? 1 << 50 : 1 << 30 }

    /// The request for the Swift modes: a path below the client's base URL, as in a service. Header fields and limits
    /// are also set on the client.
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

    /// The URL up to its path; `nil` if the path cannot be found.
    var baseURL: String? {
        pathStart.map { String(url[..<$0]) }
    }

    private var path: String {
        pathStart.map { String(url[$0...]) } ?? url
    }

    private var pathStart: String.Index? {
        // Any other URL is not split, so that the client accepts or rejects it unchanged: below a base URL, a reference
        // that begins with `//` or `?` would name another host or path.
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
        if let given { return given }
        var options = ConnectionOptions(httpVersion: httpVersion.policy, encodings: [])
        options.tls.caFile = caFile.map { .value($0) }
        options.tls.insecureAcceptAnyCertificate = insecure
        options.tls.insecureAcceptAnyHostName = insecure
        return options
    }
}
