/// JSON for printing. Objects keep the order of their members, so that output is stable and in the documented order.
enum JSONValue {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([(key: String, value: JSONValue)])

    static func integer(_ value: some BinaryInteger) -> JSONValue {
        .integer(Int64(clamping: value))
    }

    static func optional(_ value: String?) -> JSONValue {
        value.map(JSONValue.string) ?? .null
    }

    /// On one line, or with `pretty` one line for each member.
    func text(pretty: Bool = false) -> String {
        var out = ""
        write(to: &out, pretty: pretty, depth: 0)
        return out
    }

    private func write(to out: inout String, pretty: Bool, depth: Int) {
        switch self {
        case .null: out += "null"
        case .bool(let value): out += value ? "true" : "false"
        case .integer(let value): out += String(value)
        // JSON has no representation for infinities.
        case .number(let value): out += value.isFinite ? String((value * 1e6).rounded() / 1e6) : "null"
        case .string(let value): JSONValue.quote(value, to: &out)
        case .array(let items):
            JSONValue.list("[", "]", items, to: &out, pretty: pretty, depth: depth) { item, out in
                item.write(to: &out, pretty: pretty, depth: depth + 1)
            }
        case .object(let members):
            JSONValue.list("{", "}", members, to: &out, pretty: pretty, depth: depth) { member, out in
                JSONValue.quote(member.key, to: &out)
                out += ": "
                member.value.write(to: &out, pretty: pretty, depth: depth + 1)
            }
        }
    }

    private static func list<Item>(
        _ open: String, _ close: String, _ items: [Item], to out: inout String, pretty: Bool, depth: Int,
        _ write: (Item, inout String) -> Void
    ) {
        out += open
        for (index, item) in items.enumerated() {
            if index > 0 { out += pretty ? "," : ", " }
            if pretty { out += "\n" + String(repeating: "  ", count: depth + 1) }
            write(item, &out)
        }
        if pretty, !items.isEmpty { out += "\n" + String(repeating: "  ", count: depth) }
        out += close
    }

    private static func quote(_ text: String, to out: inout String) {
        out += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            // JSON requires escapes only for the first range; terminals also interpret some characters of the second.
            case _ where scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value:
                let digits = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: out.unicodeScalars.append(scalar)
            }
        }
        out += "\""
    }
}
