import Errand

/// Parses the text of a plan, in linear time. Values may be nested at most 32 deep.
struct PlanJSONParser {
    private let bytes: [UInt8]
    private var index = 0
    private var position = FilePosition(line: 1)

    private static let maximumDepth = 32

    static func parse(_ bytes: [UInt8]) throws(PlanJSON.Failure) -> PlanJSON {
        var parser = PlanJSONParser(bytes)
        guard String(validating: bytes, as: UTF8.self) != nil else { throw parser.failure("the file is not UTF-8") }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.index = 3 }
        let value = try parser.value("", depth: 0)
        parser.skipBlanks()
        guard parser.index == bytes.count else { throw parser.failure("text after the end of the plan") }
        return value
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    private func failure(_ problem: String) -> PlanJSON.Failure {
        PlanJSON.Failure(position: position, path: "", problem: problem)
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func advance() {
        let byte = bytes[index]
        index += 1
        if byte == 0x0A {
            position.line += 1
            position.column = 1
        } else if byte & 0xC0 != 0x80 {
            position.column += 1
        }
    }

    private mutating func advance(to end: Int) {
        while index < end { advance() }
    }

    private mutating func skipBlanks() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { advance() }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard next == UInt8(ascii: character) else { return false }
        advance()
        return true
    }

    private mutating func value(_ path: String, depth: Int) throws(PlanJSON.Failure) -> PlanJSON {
        skipBlanks()
        guard depth < Self.maximumDepth else { throw failure("the values are nested too deep") }
        let place = position
        let value: PlanJSON.Value
        switch next {
        case UInt8(ascii: "{"): value = .object(try object(path, depth))
        case UInt8(ascii: "["): value = .array(try array(path, depth))
        case UInt8(ascii: "\""): value = .string(try string())
        case nil: throw failure("the file ends where a value is expected")
        default: value = try scalar()
        }
        return PlanJSON(value: value, position: place, path: path)
    }

    private mutating func object(
        _ path: String, _ depth: Int
    ) throws(PlanJSON.Failure) -> [(name: String, value: PlanJSON)] {
        advance()
        var members: [(name: String, value: PlanJSON)] = []
        var names: Set<String> = []
        if take("}") { return members }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw failure("a member's name in quotes is expected") }
            let place = position
            let name = try string()
            guard names.insert(name).inserted else {
                throw PlanJSON.Failure(position: place, path: path, problem: "the member '\(name)' occurs twice")
            }
            guard take(":") else { throw failure("':' is expected") }
            members.append((name, try value(path.isEmpty ? name : "\(path).\(name)", depth: depth + 1)))
        } while take(",")
        guard take("}") else { throw failure("',' or '}' is expected") }
        return members
    }

    private mutating func array(_ path: String, _ depth: Int) throws(PlanJSON.Failure) -> [PlanJSON] {
        advance()
        var elements: [PlanJSON] = []
        if take("]") { return elements }
        repeat {
            elements.append(try value("\(path)[\(elements.count)]", depth: depth + 1))
        } while take(",")
        guard take("]") else { throw failure("',' or ']' is expected") }
        return elements
    }

    private mutating func string() throws(PlanJSON.Failure) -> String {
        let start = index
        var end = index + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            guard bytes[end] >= 0x20 else {
                advance(to: end)
                throw failure("text contains a line break or another control character")
            }
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard end < bytes.count else { throw failure("the text is not closed by a quote") }
        guard let text = JSONSkipper.string(bytes[start...end]) else { throw failure("the text has an invalid escape") }
        advance(to: end + 1)
        return text
    }

    private mutating func scalar() throws(PlanJSON.Failure) -> PlanJSON.Value {
        let word = bytes[index...].prefix { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        let text = String(decoding: word, as: UTF8.self)
        let value: PlanJSON.Value
        switch text {
        case "null": value = .null
        case "true": value = .bool(true)
        case "false": value = .bool(false)
        default:
            guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first),
                let number = Double(plain: text)
            else {
                throw failure(text.isEmpty ? "a value is expected" : "'\(text)' is neither a number nor text in quotes")
            }
            value = .number(number)
        }
        advance(to: index + word.count)
        return value
    }
}
