/// One frame as a client sends it (RFC 6455 5.2).
enum WebSocketFrame {
    enum Opcode: UInt8 {
        case continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    /// A frame with a whole message, masked with `mask`.
    static func encoded(_ opcode: Opcode, _ payload: some Collection<UInt8>, mask: UInt32) -> [UInt8] {
        let count = payload.count
        var frame: [UInt8] = []
        frame.reserveCapacity(count + 14)
        frame.append(0x80 | opcode.rawValue)
        switch count {
        case ...125:
            frame.append(0x80 | UInt8(count))
        case ...0xFFFF:
            frame.append(0x80 | 126)
            frame.append(UInt8(count >> 8))
            frame.append(UInt8(count & 0xFF))
        default:
            frame.append(0x80 | 127)
            for shift in stride(from: 56, through: 0, by: -8) { frame.append(UInt8(count >> shift & 0xFF)) }
        }
        withUnsafeBytes(of: mask.bigEndian) { frame.append(contentsOf: $0) }
        let start = frame.count
        frame.append(contentsOf: payload)
        frame.withUnsafeMutableBytes { apply(mask, to: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
        return frame
    }

    /// Masks the bytes (RFC 6455 5.3), eight bytes at a time.
    private static func apply(_ mask: UInt32, to bytes: UnsafeMutableRawBufferPointer) {
        let key = UInt64(mask.bigEndian)
        let words = key << 32 | key
        let whole = bytes.count & ~7
        for offset in stride(from: 0, to: whole, by: 8) {
            bytes.storeBytes(
                of: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ words,
                toByteOffset: offset, as: UInt64.self)
        }
        withUnsafeBytes(of: words) { key in
            for index in whole..<bytes.count { bytes[index] ^= key[index - whole] }
        }
    }

    /// The payload of a close frame; the caller ensures that the reason has at most 123 bytes.
    static func closePayload(_ closure: WebSocketClosure) -> [UInt8] {
        guard closure.code != .noStatusReceived else { return [] }
        return [UInt8(closure.code.rawValue >> 8), UInt8(closure.code.rawValue & 0xFF)] + Array(closure.reason.utf8)
    }
}

/// A whole message of a WebSocket, with its fragments joined (RFC 6455 5.6).
public enum WebSocketMessage: Sendable, Hashable {
    /// Text, checked to be UTF-8.
    case text(String)
    /// Bytes.
    case binary([UInt8])

    /// Bytes on the wire, without the frame header.
    var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
