import Errand
import ErrandTesting

@testable import ErrandModel

/// JSON text, and text that is nearly JSON. Names are all different, as the parser refuses what is malformed within a
/// value that is dropped, which Foundation does not look at.
struct JSONTextMaker {
    var generator: SeededGenerator
    private var names = 0

    private static let scalars = [
        "1", "-0", "1.5", "1e5", "12345678901234567890", "9007199254740993", "0.1e-7", "\"a\"", "true", "false", "null",
        "\"\\u00e9\\ud83d\\ude00\"", "\"\\n\\/\"", "\"é😀\"", "1e308", "1e309", "5e-324", "9007199254740993.0",
        "92233720368547758.07e2", "-9223372036854775808", "17976931348623157e292", "123456789012345678901234567890e-20",
    ]
    /// No zero: what has one among its first four bytes is UTF-16 to one reader and not to the other.
    private static let bytes: [UInt8] =
        Array("[]{},:\"\\u0123456789eE+-.tfnrald \n\t/bx".utf8) + [
            0x1F, 0x7F, 0x80, 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x98, 0xED, 0xA0, 0xFF, 0xFE, 0xEF, 0xBB, 0xBF,
        ]

    init(generator: SeededGenerator) {
        self.generator = generator
    }

    private mutating func below(_ count: Int) -> Int {
        Int.random(in: 0..<count, using: &generator)
    }

    mutating func text(_ depth: Int) -> String {
        switch below(depth > 0 ? 8 : 5) {
        case 0...3:
            return Self.scalars[below(Self.scalars.count)]
        case 4:
            let digits = String(UInt64.random(in: 0...UInt64.max, using: &generator) >> UInt64(below(64)))
            let fraction = below(2) == 0 ? "" : ".\(below(1_000_000))"
            return (below(2) == 0 ? "" : "-") + digits + fraction + (below(2) == 0 ? "" : "e\(below(81) - 40)")
        case 5, 6:
            var elements: [String] = []
            for _ in 0..<below(4) { elements.append(text(depth - 1)) }
            return "[" + elements.joined(separator: " ,") + "]"
        default:
            var members: [String] = []
            for _ in 0..<below(4) {
                names += 1
                members.append("\"name\(names)\" :" + text(depth - 1))
            }
            return "{" + members.joined(separator: ",") + "}"
        }
    }

    /// Up to three bytes added, removed or replaced.
    mutating func brokenText() -> [UInt8] {
        var text = Array(text(3).utf8)
        for _ in 0..<below(4) {
            let index = below(text.count + 1)
            let byte = Self.bytes[below(Self.bytes.count)]
            switch below(3) {
            case 1 where index < text.count: text.remove(at: index)
            case 2 where index < text.count: text[index] = byte
            default: text.insert(byte, at: index)
            }
        }
        return text
    }
}

/// Equal to the case, the bits of a number and the bytes of a text. A number with a fraction that Foundation took for
/// whole is as near as a `Double` comes.
func isSame(_ parsed: JSONValue?, _ decoded: JSONValue?) -> Bool {
    switch (parsed, decoded) {
    case (nil, nil), (.null?, .null?): true
    case (.bool(let left)?, .bool(let right)?): left == right
    case (.integer(let left)?, .integer(let right)?): left == right
    case (.number(let left)?, .number(let right)?): left.bitPattern == right.bitPattern
    case (.number(let left)?, .integer(let right)?):
        left.magnitude >= 0x1p53 && (left - Double(right)).magnitude <= left.ulp
    case (.string(let left)?, .string(let right)?): left.utf8.elementsEqual(right.utf8)
    case (.array(let left)?, .array(let right)?):
        left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
    case (.object(let left)?, .object(let right)?):
        left.count == right.count && left.allSatisfy { isSame($1, right[$0]) }
    default: false
    }
}
