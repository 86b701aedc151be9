import FoundationEssentials

extension Redaction {
    /// JSON text with the values of secret members replaced. One pass over the bytes, without a tree, so that truncated
    /// or malformed text is redacted as far as possible, and the nesting has no limit.
    func json(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\"") else {
                result.append(bytes[index])
                index += 1
                continue
            }
            let end = Self.endOfString(bytes, index)
            result += bytes[index..<end]
            let value = Self.startOfValue(bytes, end)
            if let value, hides(parameter: Self.memberName(bytes[index..<end])) {
                result += bytes[end..<value]
                result += "\"\(Self.placeholder)\"".utf8
                index = Self.endOfValue(bytes, value)
            } else {
                index = end
            }
        }
        return result
    }

    /// The position after the string's closing quote.
    private static func endOfString(_ bytes: [UInt8], _ start: Int) -> Int {
        var index = start + 1
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\"") { return index + 1 }
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return bytes.count
    }

    /// The position of the member's value; `nil` if the string before is not a member's name.
    private static func startOfValue(_ bytes: [UInt8], _ end: Int) -> Int? {
        var index = skippingBlanks(bytes, end)
        guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { return nil }
        index = skippingBlanks(bytes, index + 1)
        return index < bytes.count ? index : nil
    }

    private static func skippingBlanks(_ bytes: [UInt8], _ start: Int) -> Int {
        var index = start
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
        return index
    }

    private static func endOfValue(_ bytes: [UInt8], _ start: Int) -> Int {
        var depth = 0
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index = endOfString(bytes, index)
                if depth == 0 { return index }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return index }
                depth -= 1
                index += 1
                if depth == 0 { return index }
            case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
                if depth == 0 { return index }
                index += 1
            default:
                index += 1
            }
        }
        return index
    }

    /// A quoted name without its quotes. Escapes are rare, so a decoder reads them.
    private static func memberName(_ quoted: ArraySlice<UInt8>) -> String {
        if quoted.contains(UInt8(ascii: "\\")),
            let name = try? JSONReader.value(
                String.self, from: Data(quoted), using: SharedCoders.jsonDecoder)
        {
            return name
        }
        return String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
    }
}
