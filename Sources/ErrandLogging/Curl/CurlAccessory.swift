public import Logging

/// Writes every transfer as a ``CurlCommand``, redirects and replays included, as it is handed to the transport: with all
/// that interceptors did to it. At a level that the logger leaves out nothing is printed.
public final class CurlAccessory: EventAccessory {
    private let logger: Logger
    private let level: Logger.Level
    private let redaction: Redaction

    /// Writes to `logger`.
    ///
    /// - Parameters:
    ///   - logger: Where to.
    ///   - level: Default: debug.
    ///   - redaction: What is hidden. Default: ``Redaction/standard``.
    public init(_ logger: Logger, level: Logger.Level = .debug, redaction: Redaction = .standard) {
        self.logger = logger
        self.level = level
        self.redaction = redaction
    }

    /// Writes it when it is queued.
    public func request(_ request: AnyRequest, did event: RequestEvent) {
        guard case .queued(let description) = event, level >= logger.logLevel else { return }
        let command = CurlCommand(description, connection: request.client.connection, redaction: redaction)
        logger.log(level: level, "\(command)", metadata: ["id": "\(request.id)"])
    }
}
