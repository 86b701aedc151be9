import CErrand

extension TransferMetrics {
    /// The metrics of a completion record, except for the address, which is in the payload.
    init(_ record: borrowing errand_record) {
        self.init()
        let timings = record.timings
        queue = .microseconds(timings.queue)
        isConnectionReused = record.flags & UInt32(ERRAND_RECORD_REUSED) != 0
        resolved = Self.phase(timings.resolved)
        connected = Self.phase(timings.connected)
        secured = Self.phase(timings.secured)
        sent = Self.phase(timings.sent)
        firstByte = Self.phase(timings.first_byte)
        total = .microseconds(timings.total)
        bytesReceived = record.bytes_received
        bytesSent = record.bytes_sent
        wasReplayed = record.flags & UInt32(ERRAND_RECORD_REPLAYED) != 0
        wasDecoded = record.flags & UInt32(ERRAND_RECORD_DECODED) != 0
        if record.http_major > 0 {
            let minor = record.http_minor
            httpVersion = record.http_major == 1 ? "1.\(minor)" : "\(record.http_major)"
        }
    }

    private static func phase(_ microseconds: UInt64) -> Duration? {
        microseconds == 0 ? nil : .microseconds(microseconds)
    }
}
