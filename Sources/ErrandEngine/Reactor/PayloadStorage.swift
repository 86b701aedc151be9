import CErrand
@_spi(ErrandEngine) import ErrandModel

/// A response in the core's memory, which is freed with the last Swift value that refers to it, and never copied.
///
/// `@unchecked Sendable`: the core handed the payload over permanently and keeps no pointer to it; here it is only
/// read, and freed once, by the base class.
final class PayloadStorage: ResponseStorage, @unchecked Sendable {
    private let record: errand_record
    private let payload: OpaquePointer

    /// Owns: `record.payload` belongs to this object from here on. `nil`, without ownership, if there is no payload.
    init?(_ record: borrowing errand_record) {
        guard let payload = record.payload else { return nil }
        self.record = copy record
        self.payload = payload
        super.init(
            statusCode: Int(record.http_status), head: UnsafeRawBufferPointer(errand_payload_head(payload)),
            body: UnsafeRawBufferPointer(errand_payload_body(payload)),
            memory: Memory(pointer: UnsafeMutableRawPointer(payload)) { errand_payload_free(OpaquePointer($0)) })
    }

    override var trailers: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(errand_payload_trailers(payload))
    }

    override var bodyOwner: AnyObject? {
        errand_payload_body_owner(payload).map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
    }

    /// libcurl's own text for a failure.
    var errorText: String? {
        let bytes = UnsafeRawBufferPointer(errand_payload_error_text(payload))
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    override var bytesReceived: UInt64 { record.bytes_received }

    override var metrics: TransferMetrics {
        var metrics = TransferMetrics(record)
        metrics.remoteAddress = Self.text(errand_payload_remote_address(payload))
        metrics.localAddress = Self.text(errand_payload_local_address(payload))
        return metrics
    }

    override var figures: TransferFigures {
        let timings = record.timings
        var figures = TransferFigures()
        figures.queue = Self.nanoseconds(timings.queue)
        figures.resolved = Self.nanoseconds(timings.resolved)
        figures.connected = Self.nanoseconds(timings.connected)
        figures.secured = Self.nanoseconds(timings.secured)
        figures.sent = Self.nanoseconds(timings.sent)
        figures.firstByte = Self.nanoseconds(timings.first_byte)
        figures.total = Self.nanoseconds(timings.total)
        figures.bytesSent = record.bytes_sent
        figures.bytesReceived = record.bytes_received
        figures.headBytesSent = UInt64(record.head_bytes_sent)
        figures.headBytesReceived = UInt64(record.head_bytes_received)
        figures.isConnectionReused = record.flags & UInt16(ERRAND_RECORD_REUSED) != 0
        figures.httpVersion = TransferMetrics.version(record)
        return figures
    }

    /// Of microseconds, which are those of one transfer.
    private static func nanoseconds(_ microseconds: UInt64) -> Int64 {
        Int64(truncatingIfNeeded: microseconds &* 1000)
    }

    /// The trace of a CONNECTED record.
    var connection: ConnectionTrace {
        var trace = ConnectionTrace(lines: head)
        let metrics = metrics
        trace.isReused = metrics.isConnectionReused
        trace.remoteAddress = metrics.remoteAddress
        trace.localAddress = metrics.localAddress
        trace.queue = metrics.queue
        trace.resolved = metrics.resolved
        trace.connected = metrics.connected
        trace.secured = metrics.secured
        return trace
    }

    private static func text(_ bytes: errand_bytes) -> String? {
        let bytes = UnsafeRawBufferPointer(bytes)
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}

extension UnsafeRawBufferPointer {
    init(_ bytes: errand_bytes) {
        self.init(start: bytes.data, count: bytes.data == nil ? 0 : bytes.length)
    }
}
