/// Parses a server's bytes frame by frame, with every check of RFC 6455 5 and 7.4. Keeps the bytes of one message at
/// most.
struct WebSocketFrameReader {
    enum Event: Equatable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong([UInt8])
        case close(WebSocketClosure)
    }

    /// Why the connection has to fail (RFC 6455 7.1.7), and the close code.
    struct Violation: Error, Equatable {
        let code: WebSocketCloseCode
        let reason: String
    }

    private enum State {
        case head([UInt8])
        case payload(WebSocketFrame.Opcode, isFinal: Bool, left: Int)
        case failed(Violation)
    }

    private var state = State.head([])
    /// The type of the fragmented message in progress; `nil`: none has begun.
    private var open: WebSocketFrame.Opcode?
    private var message: [UInt8] = []
    private var control: [UInt8] = []
    private let maximum: Int

    init(maximumMessageBytes: Int) {
        maximum = maximumMessageBytes
    }

    /// Takes received bytes, cut anywhere. Messages that were complete before a violation are in `events`.
    mutating func read(_ bytes: [UInt8], into events: inout [Event]) throws(Violation) {
        var rest = bytes[...]
        do throws(Violation) {
            while !rest.isEmpty { try step(&rest, &events) }
        } catch {
            state = .failed(error)
            message = []
            throw error
        }
    }

    private mutating func step(_ rest: inout ArraySlice<UInt8>, _ events: inout [Event]) throws(Violation) {
        switch state {
        case .failed(let violation):
            throw violation
        case .head(var head):
            head.append(rest.removeFirst())
            try check(head)
            guard head.count == Self.headCount(head) else {
                state = .head(head)
                return
            }
            try begin(head, &events)
        case .payload(let opcode, let isFinal, let left):
            let part = rest.prefix(left)
            rest = rest.dropFirst(part.count)
            if opcode.isControl { control += part } else { message += part }
            state = .payload(opcode, isFinal: isFinal, left: left - part.count)
            if left == part.count { try end(opcode, isFinal: isFinal, &events) }
        }
    }

    /// The number of bytes of a frame header whose first two bytes are known.
    private static func headCount(_ head: [UInt8]) -> Int {
        guard head.count >= 2 else { return 2 }
        switch head[1] & 0x7F {
        case 126: return 4
        case 127: return 10
        default: return 2
        }
    }

    private func check(_ head: [UInt8]) throws(Violation) {
        switch head.count {
        case 1:
            guard head[0] & 0x70 == 0 else {
                throw .protocolError("the frame has a reserved bit set without an extension")
            }
            guard let opcode = WebSocketFrame.Opcode(rawValue: head[0] & 15) else {
                throw .protocolError("the frame has a reserved opcode")
            }
            let isFinal = head[0] & 0x80 != 0
            switch opcode {
            case .continuation:
                guard open != nil else { throw .protocolError("the continuation frame belongs to no message") }
            case .text, .binary:
                guard open == nil else { throw .protocolError("a new message began before the end of the last one") }
            case .close, .ping, .pong:
                guard isFinal else { throw .protocolError("the control frame is fragmented") }
            }
        case 2:
            guard head[1] & 0x80 == 0 else { throw .protocolError("the frame is masked") }
            guard head[0] & 8 == 0 || head[1] <= 125 else {
                throw .protocolError("the control frame has more than 125 bytes")
            }
        default:
            break
        }
    }

    private mutating func begin(_ head: [UInt8], _ events: inout [Event]) throws(Violation) {
        guard let opcode = WebSocketFrame.Opcode(rawValue: head[0] & 15) else {
            throw .protocolError("the frame has a reserved opcode")
        }
        let isFinal = head[0] & 0x80 != 0
        var length = UInt64(head[1] & 0x7F)
        if head.count > 2 {
            length = head[2...].reduce(0) { $0 << 8 | UInt64($1) }
            // RFC 6455 5.2: the length must use the minimal number of bytes, and its highest bit must be 0.
            guard length > (head.count == 4 ? 125 : 0xFFFF), length >> 63 == 0 else {
                throw .protocolError("the frame's length does not use the shortest encoding")
            }
        }
        if !opcode.isControl {
            guard length <= UInt64(max(0, maximum - message.count)) else {
                throw Violation(code: .messageTooBig, reason: "the message is longer than \(maximum) bytes")
            }
            if opcode != .continuation { open = opcode }
        }
        state = .payload(opcode, isFinal: isFinal, left: Int(length))
        if length == 0 { try end(opcode, isFinal: isFinal, &events) }
    }

    private mutating func end(
        _ opcode: WebSocketFrame.Opcode, isFinal: Bool, _ events: inout [Event]
    ) throws(Violation) {
        state = .head([])
        switch opcode {
        case .close:
            events.append(.close(try Self.closure(control)))
        case .ping:
            events.append(.ping(control))
        case .pong:
            events.append(.pong(control))
        case .continuation, .text, .binary:
            guard isFinal else { return }
            let bytes = message
            message = []
            defer { open = nil }
            guard open == .text else {
                events.append(.message(.binary(bytes)))
                return
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw Violation(code: .invalidPayload, reason: "the text message is not UTF-8")
            }
            events.append(.message(.text(text)))
        }
        control = []
    }

    private static func closure(_ payload: [UInt8]) throws(Violation) -> WebSocketClosure {
        guard !payload.isEmpty else { return WebSocketClosure(code: .noStatusReceived, reason: "") }
        guard payload.count >= 2 else { throw .protocolError("the close frame has a payload of one byte") }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isSendable else { throw .protocolError("the close frame has a reserved code") }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else {
            throw Violation(code: .invalidPayload, reason: "the close reason is not UTF-8")
        }
        return WebSocketClosure(code: code, reason: reason)
    }
}

extension WebSocketFrameReader.Violation {
    static func protocolError(_ reason: String) -> Self { Self(code: .protocolError, reason: reason) }
}
