/// Why a WebSocket was closed (RFC 6455 7.4).
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
    /// The number of the close frame.
    public let rawValue: UInt16

    /// A code of any number; ``isSendable`` says whether a close frame may contain it.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// 1000: the purpose of the connection has been fulfilled.
    public static let normalClosure = WebSocketCloseCode(rawValue: 1000)
    /// 1001: an endpoint is going away.
    public static let goingAway = WebSocketCloseCode(rawValue: 1001)
    /// 1002: a protocol error.
    public static let protocolError = WebSocketCloseCode(rawValue: 1002)
    /// 1003: the endpoint cannot accept this type of data.
    public static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
    /// 1005: the close frame had no code. Never sent.
    public static let noStatusReceived = WebSocketCloseCode(rawValue: 1005)
    /// 1006: the connection ended without a close frame. Never sent.
    public static let abnormalClosure = WebSocketCloseCode(rawValue: 1006)
    /// 1007: data that does not match its type, such as text that is not UTF-8.
    public static let invalidPayload = WebSocketCloseCode(rawValue: 1007)
    /// 1008: a message violates the endpoint's policy.
    public static let policyViolation = WebSocketCloseCode(rawValue: 1008)
    /// 1009: a message that is too big.
    public static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
    /// 1010: the server does not support a required extension.
    public static let mandatoryExtension = WebSocketCloseCode(rawValue: 1010)
    /// 1011: the server met an unexpected condition.
    public static let internalError = WebSocketCloseCode(rawValue: 1011)

    /// Whether a close frame may contain the code: 1000...1003, 1007...1014 (RFC 6455 7.4.1 and IANA's registry),
    /// 3000...4999.
    public var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// How a WebSocket was closed.
public struct WebSocketClosure: Sendable, Hashable {
    /// The close code; ``WebSocketCloseCode/noStatusReceived`` if the close frame had none.
    public let code: WebSocketCloseCode
    /// The reason, at most 123 bytes of UTF-8; empty if none was given.
    public let reason: String
}
