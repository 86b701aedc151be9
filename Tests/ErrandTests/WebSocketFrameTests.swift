import Errand
import ErrandTesting
import Testing

@testable import ErrandEvents

@Suite struct WebSocketFrameTests {
    private typealias Event = WebSocketFrameReader.Event

    /// A server's frame: not masked.
    private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let count = payload.count
        if count <= 125 { return [first, UInt8(count)] + payload }
        if count <= 0xFFFF { return [first, 126, UInt8(count >> 8), UInt8(count & 0xFF)] + payload }
        return [first, 127] + (0..<8).map { UInt8(count >> (56 - 8 * $0) & 0xFF) } + payload
    }

    private static func read(
        _ bytes: [UInt8], limit: Int = 1 << 20, cut: (Int) -> Int = { $0 }
    ) -> ([Event], WebSocketFrameReader.Violation?) {
        var reader = WebSocketFrameReader(maximumMessageBytes: limit)
        var events: [Event] = []
        var rest = bytes[...]
        do throws(WebSocketFrameReader.Violation) {
            while !rest.isEmpty {
                let part = rest.prefix(cut(rest.count))
                rest = rest.dropFirst(part.count)
                try reader.read(Array(part), into: &events)
            }
        } catch {
            return (events, error)
        }
        return (events, nil)
    }

    @Test func `messages of all lengths, cut anywhere, come as they were sent`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            var bytes: [UInt8] = []
            var expected: [Event] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let count = [0, 1, 125, 126, 127, 65535, 65536].randomElement(using: &random) ?? 0
                let payload = (0..<count).map { UInt8($0 & 0x7F) }
                let isText = Bool.random(using: &random)
                let cut = Int.random(in: 0...count, using: &random)
                if Bool.random(using: &random) {
                    bytes += Self.frame(isText ? 0x01 : 0x02, Array(payload[..<cut]))
                    bytes += Self.frame(0x89, [1, 2])
                    expected.append(.ping([1, 2]))
                    bytes += Self.frame(0x80, Array(payload[cut...]))
                } else {
                    bytes += Self.frame(isText ? 0x81 : 0x82, payload)
                }
                let text = String(decoding: payload, as: UTF8.self)
                expected.append(.message(isText ? .text(text) : .binary(payload)))
            }
            let (events, violation) = Self.read(bytes) { left in
                Int.random(in: 1...max(1, min(left, 40000)), using: &random)
            }
            #expect(violation == nil)
            #expect(events == expected)
        }
    }

    @Test(
        arguments: [
            ("masked", [0x81, 0x81, 0, 0, 0, 0, 65], 1002), ("RSV1", [0xC1, 0], 1002), ("RSV3", [0x91, 0], 1002),
            ("reserved opcode", [0x83, 0], 1002), ("reserved control opcode", [0x8B, 0], 1002),
            ("fragmented ping", [0x09, 0], 1002), ("long ping", [0x89, 126, 0, 126], 1002),
            ("continuation of nothing", [0x80, 0], 1002), ("message within a message", [0x01, 1, 65, 0x81, 0], 1002),
            ("text that is not UTF-8", [0x81, 1, 0xFF], 1007),
            ("the same split over fragments", [0x01, 1, 0xC3, 0x80, 1, 0x28], 1007),
            ("a close code that may not be sent", [0x88, 2, 0x03, 0xED], 1002),
            ("a close code below 1000", [0x88, 2, 0, 9], 1002),
            ("a close frame of one byte", [0x88, 1, 3], 1002),
            ("a close reason that is not UTF-8", [0x88, 3, 3, 0xE8, 0xFF], 1007),
            ("above the limit", [0x82, 126, 0x04, 0x01], 1009),
            ("above the limit by fragments", [0x02, 1, 1, 0x80, 126, 0x04, 0x00], 1009),
            ("a length of 64 bits with the highest set", [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], 1002),
            ("a length that could be shorter", [0x82, 126, 0, 5], 1002),
        ] as [(String, [UInt8], UInt16)])
    func `what RFC 6455 does not allow is a violation`(name: String, bytes: [UInt8], code: UInt16) {
        for step in 1...bytes.count {
            let (_, violation) = Self.read(bytes, limit: 1024) { min($0, step) }
            #expect(violation?.code.rawValue == code, "\(name), \(step) bytes at a time")
        }
    }

    /// Heads of all kinds with the payloads of others: what is read must not depend on where the bytes were cut.
    @Test(arguments: 0..<20 as Range<UInt64>) func `any bytes are read the same, however they are cut`(seed: UInt64) {
        let payload: [UInt8] = [0x03, 0xE8, 0x61, 0xC3, 0xA4, 0xFF]
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let first: [UInt8] = [0x01, 0x02, 0x00, 0x80, 0x81, 0x82, 0x88, 0x89, 0x8A, random.next()]
                let count = Int.random(in: 0...4, using: &random)
                bytes += Self.frame(
                    first.randomElement(using: &random) ?? 0,
                    (0..<count).map { _ in payload.randomElement(using: &random) ?? 0 })
            }
            let whole = Self.read(bytes, limit: 8)
            let single = Self.read(bytes, limit: 8) { _ in 1 }
            #expect(whole == single, "\(bytes)")
        }
    }

    @Test func `text split within a character is joined`() {
        let (events, violation) = Self.read([0x01, 1, 0xC3, 0x80, 1, 0xA4])
        #expect(violation == nil)
        #expect(events == [.message(.text("ä"))])
    }

    @Test func `a close frame has a code and a reason, or none`() {
        #expect(Self.read([0x88, 0]).0 == [.close(WebSocketClosure(code: .noStatusReceived, reason: ""))])
        let (events, _) = Self.read([0x88, 5, 0x03, 0xE9, 0x62, 0x79, 0x65])
        #expect(events == [.close(WebSocketClosure(code: .goingAway, reason: "bye"))])
    }

    @Test func `what is sent is masked, and unmasked the same`() {
        for count in [0, 5, 125, 126, 65535, 65536] {
            let payload = (0..<count).map { UInt8($0 & 0xFF) }
            let frame = WebSocketFrame.encoded(.binary, payload, mask: 0x0102_0304)
            let head = frame.count - count
            #expect(frame[0] == 0x82 && frame[1] & 0x80 != 0)
            #expect(Array(frame[(head - 4)..<head]) == [1, 2, 3, 4])
            let plain = frame[head...].enumerated().map { $1 ^ [1, 2, 3, 4][$0 & 3] }
            #expect(plain == payload)
        }
    }

    @Test func `the key is answered as in RFC 6455 1_3`() {
        let handshake = WebSocketHandshake(key: "dGhlIHNhbXBsZSBub25jZQ==", [])
        #expect(handshake.accept == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }
}
