/// A whole message of a WebSocket, its fragments joined (RFC 6455 5.6).
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
