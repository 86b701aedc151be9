import CErrand

/// A response whose memory is the core's: freed with the last Swift value that refers to it, never copied.
///
/// `@unchecked Sendable`: the core handed the payload over for good and keeps no pointer to it; here it is only read,
/// and freed once, by the base class.
final class PayloadStorage: ResponseStorage, @unchecked Sendable {
    private let record: errand_record
    private let payload: OpaquePointer

    /// Owns: `record.payload` is this object's from here on. `nil`, and nothing is owned, where there is no payload.
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

    /// libcurl's own words for a failure.
    var errorText: String? {
        let bytes = UnsafeRawBufferPointer(errand_payload_error_text(payload))
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    override var metrics: TransferMetrics {
        var metrics = TransferMetrics()
        let timings = record.timings
        metrics.queue = .microseconds(timings.queue)
        metrics.resolved = Self.phase(timings.resolved)
        metrics.connected = Self.phase(timings.connected)
        metrics.secured = Self.phase(timings.secured)
        metrics.sent = Self.phase(timings.sent)
        metrics.firstByte = Self.phase(timings.first_byte)
        metrics.total = .microseconds(timings.total)
        metrics.bytesReceived = record.bytes_received
        metrics.bytesSent = record.bytes_sent
        metrics.isConnectionReused = record.flags & UInt32(ERRAND_RECORD_REUSED) != 0
        metrics.wasReplayed = record.flags & UInt32(ERRAND_RECORD_REPLAYED) != 0
        metrics.wasDecoded = record.flags & UInt32(ERRAND_RECORD_DECODED) != 0
        if record.http_major > 0 {
            let minor = record.http_minor
            metrics.httpVersion = record.http_major == 1 ? "1.\(minor)" : "\(record.http_major)"
        }
        let address = UnsafeRawBufferPointer(errand_payload_remote_address(payload))
        metrics.remoteAddress = address.isEmpty ? nil : String(decoding: address, as: UTF8.self)
        return metrics
    }

    private static func phase(_ microseconds: UInt64) -> Duration? {
        microseconds == 0 ? nil : .microseconds(microseconds)
    }
}

extension UnsafeRawBufferPointer {
    init(_ bytes: errand_bytes) {
        self.init(start: bytes.data, count: bytes.data == nil ? 0 : bytes.length)
    }
}
