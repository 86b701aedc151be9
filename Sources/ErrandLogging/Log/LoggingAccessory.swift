public import Logging
import Synchronization

/// Logs requests with swift-log: one line when a request starts and one when it ends, and at lower levels a line for each step
/// between.
///
/// ```swift
/// configuration.accessories = [LoggingAccessory(Logger(label: "http"))]
/// // info http: request succeeded [id: 7, command: GetUser, method: GET, url: http://h/users/1, status: 200, ...]
/// ```
///
/// All lines have `id`, the ``AnyRequest/id``, and `command`. Lines about one attempt have `attempt`, the number of the
/// attempt in the run, from 1. Redirects, replays and retries increase the number; hedges do not. If `ErrandTracing`
/// traces the client and the tracer sends W3C's `traceparent`, all lines but the first have `trace_id` and `span_id`:
/// the trace of the request, and the span of the attempt that was sent last when the line was written. The guide
/// "Seeing what the client does" has the table of lines and levels. Nothing is logged at the levels notice, error and
/// critical unless ``Levels`` says so.
///
/// ``Redaction`` hides secrets. Header fields and bodies are logged only if asked for. A level that the logger does not
/// log costs one comparison. If the logger logs none of ``Levels/attempt``, ``Levels/resend`` and ``Levels/decision`` when the
/// client is made, the engine reports no events for the accessory. Add the accessory to a client or to a request. (YTKNetwork
/// `debugLogEnabled`, which exists only in debug builds.)
public final class LoggingAccessory: EventAccessory {
    /// The level of each line; `nil`: the line is not logged.
    public struct Levels: Sendable, Hashable {
        /// Default: debug.
        public var start: Logger.Level?
        /// Default: info.
        public var success: Logger.Level?
        /// Default: warning.
        public var failure: Logger.Level?
        /// For stopped requests. Default: info.
        public var stop: Logger.Level?
        /// For the steps of each attempt: its connection (with ``CommandOptions/connectionTrace``), its sending, and
        /// the head of its response. Default: trace.
        public var attempt: Logger.Level?
        /// For redirects, replays, and attempts that failed and are retried. The last line names all of them, too. Default:
        /// debug.
        public var resend: Logger.Level?
        /// For the decisions of `resilience` and its neighbours about an attempt, and for answers of a `Fallback`.
        /// Default: debug.
        public var decision: Logger.Level?

        /// Creates levels. A level that is not given has the default above.
        public init(
            start: Logger.Level? = .debug, success: Logger.Level? = .info, failure: Logger.Level? = .warning,
            stop: Logger.Level? = .info, attempt: Logger.Level? = .trace, resend: Logger.Level? = .debug,
            decision: Logger.Level? = .debug
        ) {
            self.start = start
            self.success = success
            self.failure = failure
            self.stop = stop
            self.attempt = attempt
            self.resend = resend
            self.decision = decision
        }
    }

    /// Further content of the last line.
    public struct Details: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: Int
        /// Makes a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Header fields of request and response.
        public static let headers = Details(rawValue: 1)
        /// The start of both bodies.
        public static let bodies = Details(rawValue: 2)
    }

    private let logger: Logger
    private let levels: Levels
    private let redaction: Redaction
    private let details: Details
    private let bodyLimit: Int
    /// The runs whose lines may be logged. Entries are removed again: every start notification has an end notification.
    private let runs = Mutex<[UInt64: Run]>([:])

    private struct Run {
        let start = ContinuousClock.now
        var attempts = AttemptCount()
    }

    /// Creates an accessory that logs to `logger`.
    ///
    /// - Parameters:
    ///   - logger: The logger to write to.
    ///   - levels: The level of each line. Default: those of ``Levels/init(start:success:failure:stop:attempt:resend:decision:)``.
    ///   - redaction: The secrets to hide. Default: ``Redaction/standard``.
    ///   - details: Further content of the last line. Default: nothing.
    ///   - bodyLimit: The most bytes of a body that are logged. Default: 1,024.
    public init(
        _ logger: Logger, levels: Levels = Levels(), redaction: Redaction = .standard, details: Details = [],
        bodyLimit: Int = 1024
    ) {
        self.logger = logger
        self.levels = levels
        self.redaction = redaction
        self.details = details
        self.bodyLimit = max(0, bodyLimit)
    }

    private func writes(_ level: Logger.Level?) -> Bool {
        level.map { $0 >= logger.logLevel } ?? false
    }

    /// Logs the first line. The URL is not known yet.
    public func requestWillStart(_ request: AnyRequest) {
        guard
            writes(levels.success) || writes(levels.failure) || writes(levels.stop) || writes(levels.start)
                || wantsEvents
        else { return }
        runs.withLock { $0[request.id] = Run() }
        guard let level = levels.start, writes(level) else { return }
        logger.log(
            level: level, "\(LogLine.start.message)",
            metadata: ["id": "\(request.id)", "command": "\(request.commandName)"])
    }

    /// Logs a step of the request.
    public func request(_ request: AnyRequest, did event: RequestEvent) {
        let attempt = runs.withLock { $0[request.id]?.attempts.take(event) }
        guard let line = LogLine(event), let level = line.level(in: levels), writes(level) else { return }
        var metadata = identity(of: request)
        if line.isOfAttempt { metadata["attempt"] = attempt.map { "\($0)" } }
        metadata.add(event, redaction)
        logger.log(level: level, "\(line.message)", metadata: metadata)
    }

    /// Logs the last line.
    public func requestDidStop(_ request: AnyRequest) {
        let run = runs.withLock { $0.isEmpty ? nil : $0.removeValue(forKey: request.id) }
        let line: LogLine =
            switch request.state {
            case .succeeded: .success
            case .cancelled: .stop
            default: .failure
            }
        guard let level = line.level(in: levels), writes(level) else { return }
        logger.log(level: level, "\(line.message)", metadata: metadata(of: request, since: run?.start))
    }

    /// The metadata of all lines.
    private func identity(of request: AnyRequest) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["id": "\(request.id)", "command": "\(request.commandName)"]
        for (key, value) in request.logMetadata { metadata[key] = "\(value)" }
        return metadata
    }

    private func metadata(of request: AnyRequest, since start: ContinuousClock.Instant?) -> Logger.Metadata {
        let report = RequestReport(request, redaction: redaction)
        var metadata = identity(of: request)
        metadata["method"] = report.method.map { "\($0)" }
        metadata["url"] = report.url.map { "\($0)" }
        metadata["status"] = report.status.map { "\($0)" }
        metadata["sent"] = report.metrics.map { "\($0.bytesSent)" }
        metadata["received"] = report.metrics.map { "\($0.bytesReceived)" }
        metadata["attempts"] = "\(report.attempts)"
        let resends = request.resends
        if !resends.isEmpty { metadata["resends"] = "\(resends.map(\.label).joined(separator: ", "))" }
        metadata["milliseconds"] = start.map { "\(($0.duration(to: .now)) / .milliseconds(1))" }
        if report.isFromCache { metadata["cache"] = "hit" }
        if request.state == .failed, let error = request.error {
            metadata["error"] = "\(error.shortDescription)"
            metadata["curl"] = error.curlCode.map { "\($0)" }
            metadata["errno"] = error.systemErrorCode.map { "\($0)" }
        }
        if details.contains(.headers) {
            metadata["request-headers"] = report.requestHeaders.map { .dictionary($0) }
            metadata["response-headers"] = report.responseHeaders.map { .dictionary($0) }
        }
        if details.contains(.bodies) {
            metadata["request-body"] = report.requestBody(limit: bodyLimit).map { "\($0)" }
            metadata["response-body"] = report.responseBody(limit: bodyLimit).map { "\($0)" }
        }
        return metadata
    }

    /// No effect.
    public func requestWillStop(_ request: AnyRequest) {}
}

extension LoggingAccessory: SelectiveEventAccessory {
    package var wantsEvents: Bool { writes(levels.attempt) || writes(levels.resend) || writes(levels.decision) }
}

extension AnyRequest {
    /// The name of the command: `GetUser` for a `Request<GetUser>`.
    fileprivate var commandName: String {
        let name = String(describing: type(of: self))
        guard name.hasPrefix("Request<"), name.hasSuffix(">") else { return name }
        return String(name.dropFirst(8).dropLast())
    }
}
