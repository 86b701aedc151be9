/// The numbers of a transfer's ``TransferMetrics``, without its texts and without a `Duration` for each phase: for code that
/// reads them of every transfer. A response of the engine makes them from a few loads. Times are in nanoseconds since the
/// start of the transfer; 0 where a phase did not happen.
@_spi(ErrandEngine) public struct TransferFigures: Sendable {
    /// From submission to the start.
    public var queue: Int64 = 0
    /// Until the name was looked up.
    public var resolved: Int64 = 0
    /// Until TCP was connected.
    public var connected: Int64 = 0
    /// Until TLS was ready.
    public var secured: Int64 = 0
    /// Until the request was about to be sent.
    public var sent: Int64 = 0
    /// Until the first byte of the response.
    public var firstByte: Int64 = 0
    /// Until the end.
    public var total: Int64 = 0
    /// Body bytes on the wire.
    public var bytesSent: UInt64 = 0
    /// Body bytes on the wire.
    public var bytesReceived: UInt64 = 0
    /// As ``TransferMetrics/headBytesSent``; 0: not known.
    public var headBytesSent: UInt64 = 0
    /// As ``TransferMetrics/headBytesReceived``; 0: not known.
    public var headBytesReceived: UInt64 = 0
    /// Whether the connection had served a request before.
    public var isConnectionReused = false
    /// `1.1`, `2`; `nil` where there was no response.
    public var httpVersion: String?

    /// No transfer.
    public init() {}

    init(_ metrics: TransferMetrics) {
        queue = Int64(clamping: metrics.queue.asNanoseconds)
        resolved = Self.phase(metrics.resolved)
        connected = Self.phase(metrics.connected)
        secured = Self.phase(metrics.secured)
        sent = Self.phase(metrics.sent)
        firstByte = Self.phase(metrics.firstByte)
        total = Int64(clamping: metrics.total.asNanoseconds)
        bytesSent = metrics.bytesSent
        bytesReceived = metrics.bytesReceived
        headBytesSent = metrics.headBytesSent ?? 0
        headBytesReceived = metrics.headBytesReceived ?? 0
        isConnectionReused = metrics.isConnectionReused
        httpVersion = metrics.httpVersion
    }

    private static func phase(_ duration: Duration?) -> Int64 {
        guard let duration else { return 0 }
        return Int64(clamping: duration.asNanoseconds)
    }
}

/// The figures of an attempt, for the products that record them. Times are in nanoseconds.
package struct TransferSummary: Sendable {
    private let figures: TransferFigures

    /// `nil`: the transport has no metrics, or nothing was sent.
    init?(_ figures: TransferFigures) {
        guard figures.total > 0 || figures.queue > 0 else { return nil }
        self.figures = figures
    }

    /// The figures of these metrics; `nil`: nothing was sent.
    package init?(_ metrics: TransferMetrics) {
        self.init(TransferFigures(metrics))
    }

    /// From submission to the start.
    package var queue: Int64 { figures.queue }
    /// From submission to the end.
    package var duration: Int64 {
        let (sum, overflows) = figures.queue.addingReportingOverflow(figures.total)
        return overflows ? .max : sum
    }
    /// From the start until the name was looked up. 0 if the phase did not happen, as for the phases below.
    package var resolved: Int64 { figures.resolved }
    /// From the start until TCP was connected.
    package var connected: Int64 { figures.connected }
    /// From the start until TLS was ready.
    package var secured: Int64 { figures.secured }
    /// From the start until the request was about to be sent.
    package var sent: Int64 { figures.sent }
    /// From the start to the first byte of the response.
    package var firstByte: Int64 { figures.firstByte }
    /// From the start to the end.
    package var total: Int64 { figures.total }
    /// Body bytes on the wire.
    package var bytesSent: UInt64 { figures.bytesSent }
    /// Body bytes on the wire.
    package var bytesReceived: UInt64 { figures.bytesReceived }
    /// Bytes of heads; 0: not known.
    package var headBytesSent: UInt64 { figures.headBytesSent }
    /// Bytes of heads; 0: not known.
    package var headBytesReceived: UInt64 { figures.headBytesReceived }
    /// Whether a connection was made for this transfer.
    package var hasConnected: Bool { figures.connected != 0 }
    /// Whether the connection had served a request before.
    package var isConnectionReused: Bool { figures.isConnectionReused }
    /// `1.1`, `2`; `nil` where there was no response.
    package var httpVersion: String? { figures.httpVersion }
}

extension Response {
    /// The figures of the transfer, without making all metrics; `nil`: the transport has none.
    package var transferSummary: TransferSummary? { TransferSummary(storage.figures) }

    /// The size of the status line and the fields as received, without the empty line after them.
    package var headSize: Int { storage.head.count }
}
