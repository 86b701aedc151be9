extension JSONValue: CustomStringConvertible, CustomDebugStringConvertible {
    /// The value as JSON on one line, with the names of objects sorted. A number that JSON does not have is `nan`,
    /// `inf` or `-inf`.
    public var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += value.description
        case .string(let value): Self.quote(value, into: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += ", " }
                element.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { text += ", " }
                Self.quote(member.key, into: &text)
                text += ": "
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    /// RFC 8259 7.
    private static func quote(_ value: String, into text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..."\u{1F}", "\u{7F}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
