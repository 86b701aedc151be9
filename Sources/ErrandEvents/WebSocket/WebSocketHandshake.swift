import FoundationEssentials
import HTTPTypes

/// The fields of the opening handshake (RFC 6455 4) that libcurl leaves to the caller.
struct WebSocketHandshake: Sendable {
    let key: String
    let subprotocols: [String]

    /// Makes a handshake with a key of 16 random bytes.
    init(subprotocols: [String]) {
        self.init(key: Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64EncodedString(), subprotocols)
    }

    init(key: String, _ subprotocols: [String]) {
        self.key = key
        self.subprotocols = subprotocols
    }

    /// The `Sec-WebSocket-Accept` that the server has to send.
    var accept: String {
        Data(SHA1.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))).base64EncodedString()
    }

    /// Fields that the handshake itself sets (RFC 6455 4.1), or that would give a GET a body.
    private static let owned: Set<String> = [
        "connection", "upgrade", "content-length", "transfer-encoding", "te", "expect",
    ]

    /// Throws ``ErrandError/invalidHeader`` for a field that a caller may not set.
    static func check(_ fields: HTTPFields) throws(ErrandError) {
        for field in fields {
            let name = field.name.canonicalName
            guard !owned.contains(name), !name.hasPrefix("sec-websocket-") else {
                throw ErrandError.invalidHeader.with(
                    message:
                        "\(field.name) cannot be set: the WebSocket handshake sets it; subprotocols are an argument")
            }
        }
    }

    /// Adds the handshake's fields to the request. Throws ``ErrandError/invalidHeader``.
    func add(to fields: inout HTTPFields) throws(ErrandError) {
        guard Set(subprotocols).count == subprotocols.count, subprotocols.allSatisfy(Self.isToken) else {
            throw ErrandError.invalidHeader.with(message: "the subprotocols must be different HTTP tokens")
        }
        fields[.secWebSocketKey] = key
        if !subprotocols.isEmpty { fields[.secWebSocketProtocol] = subprotocols.joined(separator: ", ") }
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && HTTPField.Name(text) != nil
    }

    /// Returns the subprotocol that the server chose. Throws ``ErrandError/webSocketHandshakeFailed``.
    func check(_ head: Response) throws(ErrandError) -> String? {
        func failed(_ message: String) -> ErrandError {
            .webSocketHandshakeFailed.with(message: message, response: head)
        }
        guard head.statusCode == 101 else { throw failed("the status is \(head.statusCode), expected 101") }
        guard head.header(.upgrade)?.lowercased() == "websocket" else {
            throw failed("the response has no field 'Upgrade: websocket'")
        }
        guard FieldTokens.members(head.headers[values: .connection]).contains("upgrade") else {
            throw failed("the response has no field 'Connection: Upgrade'")
        }
        guard head.header(.secWebSocketAccept) == accept else {
            throw failed("the field Sec-WebSocket-Accept does not match the request's key")
        }
        guard head.headers[.secWebSocketExtensions] == nil else {
            throw failed("the server chose an extension that was not offered")
        }
        let chosen = head.headers[values: .secWebSocketProtocol]
        guard chosen.count <= 1, chosen.allSatisfy(subprotocols.contains) else {
            throw failed("the server chose a subprotocol that was not offered")
        }
        return chosen.first
    }
}
