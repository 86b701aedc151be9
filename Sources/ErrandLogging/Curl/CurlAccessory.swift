public import Logging

/// Logs every transfer as a ``CurlCommand`` when it is passed to the transport, including redirects and replays. The
/// command has all changes by interceptors. If the logger does not log the level, no command is built.
public final class CurlAccessory: EventAccessory {
    private let logger: Logger
    private let level: Logger.Level
    private let redaction: Redaction

    /// Creates an accessory that logs to `logger`.
    ///
    /// - Parameters:
    ///   - logger: The logger to write to.
    ///   - level: Default: debug.
    ///   - redaction: The secrets to hide. Default: ``Redaction/standard``.
    public init(_ logger: Logger, level: Logger.Level = .debug, redaction: Redaction = .standard) {
        self.logger = logger
        self.level = level
        self.redaction = redaction
    }

    /// Logs the transfer when it is queued.
    public func request(_ request: AnyRequest, did event: RequestEvent) {
        guard case .queued(let description) = event, level >= logger.logLevel else { return }
        let command = CurlCommand(description, connection: request.client.connection, redaction: redaction)
        logger.log(level: level, "\(command)", metadata: ["id": "\(request.id)"])
    }

    /// No effect.
    public func requestWillStart(_ request: AnyRequest) {}
    /// No effect.
    public func requestWillStop(_ request: AnyRequest) {}
    /// No effect.
    public func requestDidStop(_ request: AnyRequest) {}
}
