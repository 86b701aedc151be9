import Errand
import ErrandTesting
import Testing

@testable import ErrandEvents

/// Random frames, cut at random places, against the rules of RFC 6455 said frame by frame.
@Suite struct WebSocketWalkTests {
    private static let limit = 300

    private struct Frame {
        var isFinal: Bool
        var reserved: UInt8
        var opcode: UInt8
        var isMasked: Bool
        var payload: [UInt8]

        /// As a frame of a server, but for what is broken.
        var bytes: [UInt8] {
            let mask: UInt8 = isMasked ? 0x80 : 0
            var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
            if payload.count <= 125 {
                bytes.append(mask | UInt8(payload.count))
            } else {
                bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
            }
            return bytes + (isMasked ? [0, 0, 0, 0] : []) + payload
        }
    }

    /// What has to come of frames: events, and the code of the first broken rule.
    private struct Oracle {
        var events: [WebSocketFrameReader.Event] = []
        var parts: (isText: Bool, bytes: [UInt8])?

        mutating func take(_ frame: Frame) -> UInt16? {
            if frame.reserved != 0 || frame.isMasked || ![0, 1, 2, 8, 9, 10].contains(frame.opcode) { return 1002 }
            return frame.opcode < 8 ? takeData(frame) : takeControl(frame)
        }

        private mutating func takeData(_ frame: Frame) -> UInt16? {
            guard (frame.opcode == 0) == (parts != nil) else { return 1002 }
            var message = parts ?? (frame.opcode == 1, [])
            message.bytes += frame.payload
            if message.bytes.count > WebSocketWalkTests.limit { return 1009 }
            parts = frame.isFinal ? nil : message
            guard frame.isFinal else { return nil }
            if !message.isText {
                events.append(.message(.binary(message.bytes)))
            } else if let text = String(validating: message.bytes, as: UTF8.self) {
                events.append(.message(.text(text)))
            } else {
                return 1007
            }
            return nil
        }

        private mutating func takeControl(_ frame: Frame) -> UInt16? {
            guard frame.isFinal, frame.payload.count <= 125 else { return 1002 }
            switch frame.opcode {
            case 9: events.append(.ping(frame.payload))
            case 10: events.append(.pong(frame.payload))
            default:
                if frame.payload.isEmpty {
                    events.append(.close(WebSocketClosure(code: .noStatusReceived, reason: "")))
                    return nil
                }
                guard frame.payload.count > 1 else { return 1002 }
                let code = UInt16(frame.payload[0]) * 256 + UInt16(frame.payload[1])
                let isKnown = (1000...1014).contains(code) && ![1004, 1005, 1006].contains(code)
                guard isKnown || (3000...4999).contains(code) else { return 1002 }
                guard let reason = String(validating: frame.payload.dropFirst(2), as: UTF8.self) else { return 1007 }
                events.append(.close(WebSocketClosure(code: WebSocketCloseCode(rawValue: code), reason: reason)))
            }
            return nil
        }
    }

    private static func frame(_ isOpen: Bool, _ random: inout SeededGenerator) -> Frame {
        let letters: [[UInt8]] = [[0x61], [0xC3, 0xA4], [0xF0, 0x9F, 0x98, 0x80]]
        var frame = Frame(
            isFinal: Bool.random(using: &random), reserved: 0,
            opcode: isOpen ? 0 : UInt8.random(in: 1...2, using: &random), isMasked: false, payload: [])
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            frame.payload += letters.randomElement(using: &random) ?? []
        }
        switch Int.random(in: 0...60, using: &random) {
        case 0...15:
            frame.opcode = UInt8.random(in: 9...10, using: &random)
            frame.isFinal = true
            frame.payload = Array(frame.payload.prefix(125))
        case 16:
            frame.opcode = 8
            frame.isFinal = true
            let code = [999, 1000, 1004, 1005, 1006, 1011, 1014, 1015, 2999, 3000, 4999, 5000].randomElement(
                using: &random)
            frame.payload = [UInt8((code ?? 0) >> 8), UInt8((code ?? 0) & 0xFF)] + frame.payload.prefix(50)
        case 17: frame.reserved = UInt8.random(in: 1...7, using: &random)
        case 18: frame.isMasked = true
        case 19: frame.opcode = UInt8.random(in: 0...15, using: &random)
        case 20: frame.payload = Array(frame.payload.dropLast())
        case 21: frame.payload += frame.payload + frame.payload
        default: break
        }
        return frame
    }

    @Test func `random frames, cut anywhere, are what the rules say`() {
        var random = SeededGenerator(seed: 6455)
        var codes: [UInt16: Int] = [:]
        for round in 0..<2000 {
            var oracle = Oracle()
            var bytes: [UInt8] = []
            var code: UInt16?
            for _ in 0..<30 where code == nil {
                let frame = Self.frame(oracle.parts != nil, &random)
                bytes += frame.bytes
                code = oracle.take(frame)
            }
            var reader = WebSocketFrameReader(maximumMessageBytes: Self.limit)
            var events: [WebSocketFrameReader.Event] = []
            var violation: WebSocketFrameReader.Violation?
            var rest = bytes[...]
            do throws(WebSocketFrameReader.Violation) {
                while !rest.isEmpty {
                    let part = rest.prefix(Int.random(in: 1...64, using: &random))
                    rest = rest.dropFirst(part.count)
                    try reader.read(Array(part), into: &events)
                }
            } catch {
                violation = error
            }
            #expect(events == oracle.events, "round \(round)")
            #expect(violation?.code.rawValue == code, "round \(round)")
            codes[code ?? 0, default: 0] += 1
        }
        // The walk has been everywhere.
        for code: UInt16 in [0, 1002, 1007, 1009] { #expect(codes[code, default: 0] > 10, "\(code)") }
    }
}
