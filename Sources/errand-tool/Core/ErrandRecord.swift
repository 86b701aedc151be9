import CErrand
import Errand
import HTTPTypes

extension errand_record {
    var ended: errand_status {
        errand_status(rawValue: UInt32(bitPattern: status)) ?? .internal
    }

    /// What the payload has, or nothing.
    func bytes(_ read: (OpaquePointer) -> errand_bytes) -> UnsafeRawBufferPointer {
        guard let payload else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let view = read(payload)
        return UnsafeRawBufferPointer(start: view.data, count: view.length)
    }

    func text(_ read: (OpaquePointer) -> errand_bytes) -> String? {
        let view = bytes(read)
        return view.isEmpty ? nil : String(decoding: view, as: UTF8.self)
    }

    var metrics: TransferMetrics {
        func phase(_ microseconds: UInt64) -> Duration? {
            microseconds == 0 ? nil : .microseconds(Int64(clamping: microseconds))
        }
        var metrics = TransferMetrics()
        metrics.queue = phase(timings.queue) ?? .zero
        metrics.resolved = phase(timings.resolved)
        metrics.connected = phase(timings.connected)
        metrics.secured = phase(timings.secured)
        metrics.sent = phase(timings.sent)
        metrics.firstByte = phase(timings.first_byte)
        metrics.total = phase(timings.total) ?? .zero
        metrics.bytesReceived = bytes_received
        metrics.bytesSent = bytes_sent
        metrics.isConnectionReused = flags & UInt32(ERRAND_RECORD_REUSED) != 0
        metrics.wasDecoded = flags & UInt32(ERRAND_RECORD_DECODED) != 0
        metrics.remoteAddress = text(errand_payload_remote_address)
        if http_major > 0 {
            metrics.httpVersion = http_major == 1 ? "1.\(http_minor)" : "\(http_major)"
        }
        return metrics
    }
}

extension HTTPFields {
    /// The fields of a raw head, without its status line; lines that are no fields are left out.
    init(head: UnsafeRawBufferPointer) {
        self.init()
        for line in head.split(separator: 0x0A).dropFirst() {
            guard let colon = line.firstIndex(of: 0x3A) else { continue }
            let text = String(decoding: line[line.index(after: colon)...], as: UTF8.self)
            guard let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self)) else { continue }
            append(HTTPField(name: name, value: text.trimmingPrefix { $0.isWhitespace }.trimmedEnd))
        }
    }
}

extension StringProtocol {
    fileprivate var trimmedEnd: String {
        var end = endIndex
        while end > startIndex, self[index(before: end)].isWhitespace { end = index(before: end) }
        return String(self[..<end])
    }
}
