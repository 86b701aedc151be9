public import Logging
import Synchronization

/// Logs one line when a request starts and one when it ends, with swift-log.
///
/// ```swift
/// configuration.accessories = [LoggingAccessory(Logger(label: "http"))]
/// // info http: request succeeded [id: 7, command: GetUser, method: GET, url: http://h/users/1, status: 200, ...]
/// ```
///
/// ``Redaction`` hides secrets. Header fields and bodies are logged only if asked for. A level that the logger does not
/// log costs one comparison. Add the accessory to a client or to a request. (YTKNetwork `debugLogEnabled`, which exists
/// only in debug builds.)
public final class LoggingAccessory: Accessory {
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

        /// Creates levels. A level that is not given has the default above.
        public init(
            start: Logger.Level? = .debug, success: Logger.Level? = .info, failure: Logger.Level? = .warning,
            stop: Logger.Level? = .info
        ) {
            self.start = start
            self.success = success
            self.failure = failure
            self.stop = stop
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
    /// Start times of the requests whose end may be logged. Entries are removed again: every start notification has an
    /// end notification.
    private let starts = Mutex<[UInt64: ContinuousClock.Instant]>([:])

    /// Creates an accessory that logs to `logger`.
    ///
    /// - Parameters:
    ///   - logger: The logger to write to.
    ///   - levels: The level of each line. Default: those of ``Levels/init(start:success:failure:stop:)``.
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
        guard writes(levels.start) || writes(levels.success) || writes(levels.failure) || writes(levels.stop) else {
            return
        }
        starts.withLock { $0[request.id] = .now }
        guard let level = levels.start, writes(level) else { return }
        logger.log(
            level: level, "request starts", metadata: ["id": "\(request.id)", "command": "\(request.commandName)"])
    }

    /// Logs the last line.
    public func requestDidStop(_ request: AnyRequest) {
        let start = starts.withLock { $0.isEmpty ? nil : $0.removeValue(forKey: request.id) }
        let (level, message): (Logger.Level?, Logger.Message) =
            switch request.state {
            case .succeeded: (levels.success, "request succeeded")
            case .cancelled: (levels.stop, "request stopped")
            default: (levels.failure, "request failed")
            }
        guard let level, writes(level) else { return }
        logger.log(level: level, message, metadata: metadata(of: request, since: start))
    }

    private func metadata(of request: AnyRequest, since start: ContinuousClock.Instant?) -> Logger.Metadata {
        let report = RequestReport(request, redaction: redaction)
        var metadata: Logger.Metadata = ["id": "\(request.id)", "command": "\(request.commandName)"]
        metadata["method"] = report.method.map { "\($0)" }
        metadata["url"] = report.url.map { "\($0)" }
        metadata["status"] = report.status.map { "\($0)" }
        metadata["sent"] = report.metrics.map { "\($0.bytesSent)" }
        metadata["received"] = report.metrics.map { "\($0.bytesReceived)" }
        metadata["attempts"] = "\(report.attempts)"
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

extension AnyRequest {
    /// `GetUser` of a `Request<GetUser>`.
    fileprivate var commandName: String {
        let name = String(describing: type(of: self))
        guard name.hasPrefix("Request<"), name.hasSuffix(">") else { return name }
        return String(name.dropFirst(8).dropLast())
    }
}
