import Errand

/// JSON for writing. Members keep their order.
enum LoadJSON {
    /// Text that is JSON as it is.
    case literal(String)
    case string(String)
    case array([LoadJSON])
    case object([(key: String, value: LoadJSON)])

    static let null = LoadJSON.literal("null")

    static func number(_ value: some BinaryInteger) -> LoadJSON { .literal(String(value)) }

    /// The shortest text that is read as the same number. JSON has no representation for infinities.
    static func number(_ value: Double) -> LoadJSON { value.isFinite ? .literal(value.description) : null }

    static func bool(_ value: Bool) -> LoadJSON { .literal(value ? "true" : "false") }

    /// Base64 has nothing to escape.
    static func base64(_ text: String) -> LoadJSON { .literal("\"" + text + "\"") }

    static func optional(_ value: String?) -> LoadJSON { value.map { .string($0) } ?? null }

    var text: String {
        var printer = JSONPrinter()
        write(to: &printer)
        return printer.text
    }

    private func write(to printer: inout JSONPrinter) {
        switch self {
        case .literal(let text): printer.literal(text)
        case .string(let text): printer.string(text)
        case .array(let elements): printer.array(elements) { $0.write(to: &$1) }
        case .object(let members): printer.object(members) { $0.write(to: &$1) }
        }
    }
}
