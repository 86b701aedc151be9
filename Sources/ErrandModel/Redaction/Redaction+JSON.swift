extension Redaction {
    /// JSON text with the values of secret members replaced. One pass over the bytes, without a tree, so that truncated
    /// or malformed text is redacted as far as possible, and the nesting has no limit.
    ///
    /// With `pseudonyms` the values keep their types, so that a program can still decode them.
    func json(_ bytes: [UInt8], by pseudonyms: Pseudonyms? = nil) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\"") else {
                result.append(bytes[index])
                index += 1
                continue
            }
            let end = JSONSkipper.endOfString(bytes, index)
            result += bytes[index..<end]
            guard let value = Self.startOfValue(bytes, end) else {
                index = end
                continue
            }
            let name = Self.memberName(bytes[index..<end])
            guard hides(parameter: name) else {
                index = end
                continue
            }
            index = JSONSkipper.endOfValue(bytes, value)
            result += bytes[end..<value]
            if let pseudonyms {
                pseudonyms.note(name)
                result += Self.hidden(Array(bytes[value..<index]), by: pseudonyms)
            } else {
                result += "\"\(Self.placeholder)\"".utf8
            }
        }
        return result
    }

    /// A value whose texts are words, and whose numbers are 0.
    private static func hidden(_ bytes: [UInt8], by pseudonyms: Pseudonyms) -> [UInt8] {
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                let end = JSONSkipper.endOfString(bytes, index)
                let mark = JSONSkipper.endOfBlanks(bytes, end)
                if mark < bytes.count, bytes[mark] == UInt8(ascii: ":") {
                    result += bytes[index..<end]
                } else {
                    result += "\"\(pseudonyms.word(for: memberName(bytes[index..<end])))\"".utf8
                }
                index = end
            case let byte where isStructure(byte):
                result.append(byte)
                index += 1
            default:
                let word = bytes[index...].prefix { !isStructure($0) && $0 != UInt8(ascii: "\"") }
                index = word.endIndex
                let isLiteral = ["true", "false", "null"].contains { word.elementsEqual($0.utf8) }
                result += isLiteral ? Array(word) : [UInt8(ascii: "0")]
            }
        }
        return result
    }

    /// Whether the byte is a blank, or a separator between values.
    private static func isStructure(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: ","), UInt8(ascii: ":"):
            true
        default: false
        }
    }

    /// The position of the member's value; `nil` if the string before is not a member's name.
    private static func startOfValue(_ bytes: [UInt8], _ end: Int) -> Int? {
        var index = JSONSkipper.endOfBlanks(bytes, end)
        guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { return nil }
        index = JSONSkipper.endOfBlanks(bytes, index + 1)
        return index < bytes.count ? index : nil
    }

    /// A quoted name without its quotes.
    private static func memberName(_ quoted: ArraySlice<UInt8>) -> String {
        JSONSkipper.string(quoted) ?? String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
    }
}
