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

    /// RFC 8259 7. Terminals also interpret some of the control characters that JSON allows as they are.
    package mutating func string(_ value: String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
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
