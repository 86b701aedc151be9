/// Writes JSON to be read by people: on one line, or one line for each member.
package struct JSONPrinter {
    package private(set) var text = ""
    private let isPretty: Bool
    private var depth = 0

    package init(isPretty: Bool = false) {
        self.isPretty = isPretty
    }

    /// Text that is JSON as it is: a number, `true`, `null`.
    package mutating func literal(_ literal: String) {
        text += literal
    }

    /// Escapes more than JSON demands: terminals also interpret the control characters U+007F to U+009F.
    package mutating func string(_ value: String) {
        text += "\""
        for scalar in value.unicodeScalars {
            if let escape = JSONEscape.required(scalar.value) {
                text += escape
            } else if scalar.isControl {
                text += JSONEscape.numeric(scalar.value)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    package mutating func array<Element>(_ elements: [Element], _ write: (Element, inout JSONPrinter) -> Void) {
        list("[", elements, "]", write)
    }

    /// The members in this order.
    package mutating func object<Value>(
        _ members: [(key: String, value: Value)], _ write: (Value, inout JSONPrinter) -> Void
    ) {
        list("{", members, "}") { member, printer in
            printer.string(member.key)
            printer.text += ": "
            write(member.value, &printer)
        }
    }

    private mutating func list<Item>(
        _ open: String, _ items: [Item], _ close: String, _ write: (Item, inout JSONPrinter) -> Void
    ) {
        text += open
        depth += 1
        for (index, item) in items.enumerated() {
            if index > 0 { text += isPretty ? "," : ", " }
            newLine()
            write(item, &self)
        }
        depth -= 1
        if !items.isEmpty { newLine() }
        text += close
    }

    private mutating func newLine() {
        if isPretty { text += "\n" + String(repeating: "  ", count: depth) }
    }
}

/// The escapes of characters in JSON strings (RFC 8259 7).
enum JSONEscape {
    /// The escape of a character that JSON does not allow as it is: quotation mark, reverse solidus and the control
    /// characters below U+0020. `nil` for any other character.
    static func required(_ value: UInt32) -> String? {
        switch value {
        case 0x22: "\\\""
        case 0x5C: "\\\\"
        case 0x0A: "\\n"
        case 0x0D: "\\r"
        case 0x09: "\\t"
        case 0..<0x20: numeric(value)
        default: nil
        }
    }

    /// `\u` and four digits.
    static func numeric(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

extension Unicode.Scalar {
    /// Whether the character is a control character, which a terminal may act on: U+0000 to U+001F and U+007F to
    /// U+009F.
    package var isControl: Bool { value < 0x20 || (0x7F..<0xA0).contains(value) }
}
