import Errand
import Foundation

/// Finds a value in JSON and returns its original text, so that numbers keep their digits and objects keep their order.
struct JSONText {
    private let bytes: [UInt8]
    private var index = 0

    /// Throws `ErrandError.responseDecodingFailed` where the bytes are not JSON.
    init(_ bytes: [UInt8]) throws(ErrandError) {
        _ = try Errand.Response(statusCode: 200, body: bytes).json()
        self.bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// A string's characters, or the text of any other value. `nil`: the path does not exist.
    func text(at path: JSONPath) -> String? {
        var cursor = self
        for step in path.steps {
            let isThere =
                switch step {
                case .name(let name): cursor.enter(member: name)
                case .index(let index): cursor.enter(element: index)
                }
            guard isThere else { return nil }
        }
        cursor.skipBlanks()
        let start = cursor.index
        cursor.skipValue()
        guard start < cursor.index else { return nil }
        let value = bytes[start..<cursor.index]
        return value.first == UInt8(ascii: "\"") ? JSONText.string(value) : String(decoding: value, as: UTF8.self)
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || (0x09...0x0D).contains(byte) { index += 1 }
    }

    /// Moves to the first member with that name; later members with the same name are ignored.
    private mutating func enter(member name: String) -> Bool {
        guard take("{") else { return false }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { return false }
            let start = index
            skipString()
            let isIt = JSONText.string(bytes[start..<index]) == name
            guard take(":") else { return false }
            skipBlanks()
            if isIt { return true }
            skipValue()
        } while take(",")
        return false
    }

    private mutating func enter(element number: Int) -> Bool {
        guard take("[") else { return false }
        var left = number
        repeat {
            skipBlanks()
            guard let byte = next, byte != UInt8(ascii: "]") else { return false }
            if left == 0 { return true }
            left -= 1
            skipValue()
        } while take(",")
        return false
    }

    /// Iterative, so that nesting uses no stack.
    private mutating func skipValue() {
        var depth = 0
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                skipString()
                if depth == 0 { return }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return }
                depth -= 1
                index += 1
                if depth == 0 { return }
            case UInt8(ascii: ","), 0x20, 0x09...0x0D:
                guard depth > 0 else { return }
                index += 1
            default:
                index += 1
            }
        }
    }

    private mutating func skipString() {
        index += 1
        while let byte = next {
            index += 1
            if byte == UInt8(ascii: "\"") { return }
            if byte == UInt8(ascii: "\\"), next != nil { index += 1 }
        }
    }

    /// The characters of a quoted string.
    private static func string(_ quoted: ArraySlice<UInt8>) -> String? {
        guard quoted.contains(UInt8(ascii: "\\")) else {
            return String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
        }
        return try? JSONDecoder().decode(String.self, from: Data(quoted))
    }
}
