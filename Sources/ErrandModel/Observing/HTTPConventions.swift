import Glibc
import HTTPTypes

/// Turns this library's values into those of OpenTelemetry's semantic conventions for HTTP clients (v1.44,
/// `docs/http/http-spans.md` and `http-metrics.md`). Metrics and spans share it, so that their attributes agree. Pure.
package enum HTTPConventions {
    /// The value that is used instead of an unknown one.
    package static let other = "_OTHER"

    /// The known methods: those of RFC 9110, PATCH (RFC 5789) and QUERY. The environment's
    /// `OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS`, a list with commas, replaces all of them.
    package static let knownMethods = methods(
        inList: getenv("OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS").map { String(cString: $0) })

    package static func methods(inList list: String?) -> Set<String> {
        let own = (list ?? "").split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }.filter {
            !$0.isEmpty
        }
        guard own.isEmpty else { return Set(own) }
        return ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"]
    }

    /// `error.type` of an attempt; `nil`: no error. A status of 400 and more is an error, and so is every failure except
    /// the caller's cancellation.
    package static func errorType(of result: TransferResult) -> String? {
        switch result {
        case .response(let response): errorType(of: response)
        case .failure(.cancelled): nil
        case .failure(let error): error.shortDescription
        }
    }

    /// `error.type` of an attempt whose head has arrived.
    package static func errorType(of head: Response) -> String? {
        errorType(ofStatus: head.statusCode)
    }

    /// `error.type` of a response with this status.
    package static func errorType(ofStatus status: Int) -> String? {
        status >= 400 ? String(status) : nil
    }

    /// `http.response.status_code`; `nil`: no status was received.
    package static func status(of response: Response?) -> Int? {
        response.flatMap { $0.statusCode > 0 ? $0.statusCode : nil }
    }

    /// The metrics of an attempt, as far as it got; `nil`: the transport has none, or nothing was sent.
    package static func metrics(of result: TransferResult) -> TransferMetrics? {
        let metrics: TransferMetrics? =
            switch result {
            case .response(let response): response.metrics
            case .failure(let error): error.metrics
            }
        guard let metrics, metrics.total > .zero || metrics.queue > .zero else { return nil }
        return metrics
    }

    /// The figures of ``metrics(of:)``, without its texts; `nil`: the transport has none, or nothing was sent.
    package static func summary(of result: TransferResult) -> TransferSummary? {
        switch result {
        case .response(let response): TransferSummary(response.storage.figures)
        case .failure(let error): error.metrics.flatMap { TransferSummary($0) }
        }
    }

    /// `network.protocol.version` by the first line of a head: `1.1`, `2`; `nil`: there is none.
    package static func protocolVersion(ofHead head: Response) -> String? {
        let line = head.storage.head.prefix { $0 != UInt8(ascii: " ") && $0 != 0x0D && $0 != 0x0A }
        guard line.starts(with: "HTTP/".utf8), line.count > 5 else { return nil }
        return String(decoding: line.dropFirst(5), as: UTF8.self)
    }
}

/// How long an attempt took, from its submission to its end. For a streamed response the time ends at the head, because
/// the reader of a stream may take any time. If the engine has measured the time, its value is used: the callback queue
/// delays only the report of the end.
package struct AttemptTimer: Sendable {
    /// By the clock that `ContinuousClock` reads.
    private let start = Stopwatch.bootTime()

    package init() {}

    /// The moment that many nanoseconds after the submission, in nanoseconds of `Stopwatch.bootTime()`.
    package func time(after nanoseconds: Int64) -> Int64 { start &+ nanoseconds }

    /// The time since the submission, in nanoseconds.
    package var elapsed: Int64 { Stopwatch.bootTime() - start }

    /// The time from the submission to the head, in nanoseconds. The engine knows it if the head has metrics.
    package func timeToHead(_ head: Response) -> Int64 {
        let figures = head.storage.figures
        guard figures.firstByte > 0 else { return elapsed }
        let (sum, overflows) = figures.queue.addingReportingOverflow(figures.firstByte)
        return overflows ? elapsed : min(sum, elapsed)
    }

    /// The duration of an attempt that has ended with this result, in nanoseconds.
    package func duration(of result: TransferResult) -> Int64 {
        HTTPConventions.summary(of: result)?.duration ?? elapsed
    }
}

/// The server of a request by its URL: `server.address` and `server.port`.
package struct ServerPlace: Sendable, Hashable {
    package let address: String
    package let port: Int

    package init(address: String, port: Int) {
        self.address = address
        self.port = port
    }

    /// An IPv6 address has no brackets here.
    package init(_ url: URLReference) {
        var host = (url.authority ?? "").lowercased()
        if let mark = host.lastIndex(of: "@") { host = String(host[host.index(after: mark)...]) }
        let isSecure = url.scheme?.lowercased() == "https"
        let afterAddress = host.lastIndex(of: "]") ?? host.startIndex
        var port = isSecure ? 443 : 80
        if let colon = host[afterAddress...].lastIndex(of: ":") {
            port = Int(host[host.index(after: colon)...]) ?? port
            host = String(host[..<colon])
        }
        self.init(address: Self.withoutBrackets(host), port: port)
    }

    /// `127.0.0.1:80` or `[::1]:80`, as in ``TransferMetrics/remoteAddress``; `nil`: the text is neither.
    package init?(endpoint: String) {
        guard let colon = endpoint.lastIndex(of: ":"), let port = Int(endpoint[endpoint.index(after: colon)...]) else {
            return nil
        }
        self.init(address: Self.withoutBrackets(String(endpoint[..<colon])), port: port)
    }

    private static func withoutBrackets(_ host: String) -> String {
        guard host.hasPrefix("["), host.hasSuffix("]") else { return host }
        return String(host.dropFirst().dropLast())
    }
}

/// `url.template` of a run. It belongs to the path that the command has asked for. So after a redirect to another path
/// there is no template.
package struct URLTemplate: Sendable {
    package let text: String
    private let path: String

    /// `url`: what the command asks for.
    package init?(_ text: String?, of url: String) {
        guard let text else { return nil }
        self.text = text
        path = String(URLReference(url).path)
    }

    /// The template, if it applies to the URL.
    package func text(for url: URLReference) -> String? { url.path == path ? text : nil }
}

extension Duration {
    /// In seconds, for a metric.
    package var asSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }

    /// Nanoseconds in seconds, for a metric.
    package static func seconds(ofNanoseconds nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e9 }

    /// In whole nanoseconds; 0 for a negative duration.
    package var asNanoseconds: UInt64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = (UInt64(clamping: components.seconds), UInt64(clamping: components.attoseconds))
        let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflows ? .max : whole.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
    }
}
