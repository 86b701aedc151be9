import Errand

/// JSON for printing. Objects keep the order of their members, so that output is stable and in the documented order.
enum PrintedJSON {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([PrintedJSON])
    case object([(key: String, value: PrintedJSON)])

    static func integer(_ value: some BinaryInteger) -> PrintedJSON {
        .integer(Int64(clamping: value))
    }

    static func optional(_ value: String?) -> PrintedJSON {
        value.map(PrintedJSON.string) ?? .null
    }

    /// On one line, or with `pretty` one line for each member.
    func text(pretty: Bool = false) -> String {
        var printer = JSONPrinter(isPretty: pretty)
        write(to: &printer)
        return printer.text
    }

    private func write(to printer: inout JSONPrinter) {
        switch self {
        case .null: printer.literal("null")
        case .bool(let value): printer.literal(value ? "true" : "false")
        case .integer(let value): printer.literal(String(value))
        // JSON has no representation for infinities.
        case .number(let value): printer.literal(value.isFinite ? String((value * 1e6).rounded() / 1e6) : "null")
        case .string(let value): printer.string(value)
        case .array(let items): printer.array(items) { $0.write(to: &$1) }
        case .object(let members): printer.object(members) { $0.write(to: &$1) }
        }
    }
}
