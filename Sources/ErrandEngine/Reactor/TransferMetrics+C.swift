import CErrand

extension TransferMetrics {
    /// The metrics of a completion record, except for the address, which is in the payload.
    init(_ record: borrowing errand_record) {
        self.init()
        let timings = record.timings
        queue = .microseconds(timings.queue)
        isConnectionReused = record.flags & UInt16(ERRAND_RECORD_REUSED) != 0
        resolved = Self.phase(timings.resolved)
        connected = Self.phase(timings.connected)
        secured = Self.phase(timings.secured)
        sent = Self.phase(timings.sent)
        firstByte = Self.phase(timings.first_byte)
        total = .microseconds(timings.total)
        bytesReceived = record.bytes_received
        bytesSent = record.bytes_sent
        if record.head_bytes_sent > 0 { headBytesSent = UInt64(record.head_bytes_sent) }
        if record.head_bytes_received > 0 { headBytesReceived = UInt64(record.head_bytes_received) }
        wasReplayed = record.flags & UInt16(ERRAND_RECORD_REPLAYED) != 0
        wasDecoded = record.flags & UInt16(ERRAND_RECORD_DECODED) != 0
        httpVersion = Self.version(record)
    }

    /// `1.1`, `2`; `nil`: there was no response. The usual ones are not put together.
    static func version(_ record: borrowing errand_record) -> String? {
        switch (record.http_major, record.http_minor) {
        case (0, _): nil
        case (1, 1): "1.1"
        case (1, let minor): "1.\(minor)"
        case (2, _): "2"
        case (let major, _): "\(major)"
        }
    }

    private static func phase(_ microseconds: UInt64) -> Duration? {
        microseconds == 0 ? nil : .microseconds(microseconds)
    }
}
