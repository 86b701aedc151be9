extension JSONValue: CustomStringConvertible, CustomDebugStringConvertible {
    /// The value as JSON on one line, with the names of objects sorted. A number that JSON does not have is `nan`,
    /// `inf` or `-inf`.
    public var description: String {
        var printer = JSONPrinter()
        write(to: &printer)
        return printer.text
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    private func write(to printer: inout JSONPrinter) {
        switch self {
        case .null: printer.literal("null")
        case .bool(let value): printer.literal(value ? "true" : "false")
        case .integer(let value): printer.literal(String(value))
        case .number(let value): printer.literal(value.description)
        case .string(let value): printer.string(value)
        case .array(let elements): printer.array(elements) { $0.write(to: &$1) }
        case .object(let members): printer.object(members.sorted { $0.key < $1.key }) { $0.write(to: &$1) }
        }
    }
}
