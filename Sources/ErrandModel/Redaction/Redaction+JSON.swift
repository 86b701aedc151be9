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
            let end = JSONSkipper.endOfString(bytes, index)
            result += bytes[index..<end]
            let value = Self.startOfValue(bytes, end)
            if let value, hides(parameter: Self.memberName(bytes[index..<end])) {
                result += bytes[end..<value]
                result += "\"\(Self.placeholder)\"".utf8
                index = JSONSkipper.endOfValue(bytes, value)
            } else {
                index = end
            }
        }
        return result
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
