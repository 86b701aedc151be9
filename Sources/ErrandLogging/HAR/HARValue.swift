/// JSON whose members keep their order. A HAR then lists them as the specification does, and a recorded file changes
/// only where the traffic changes.
indirect enum HARValue {
    /// A number, `true` or `false`.
    case literal(String)
    case string(String)
    case array([HARValue])
    case object([(key: String, value: HARValue)])
    /// A value that another program wrote.
    case other(JSONValue)

    static func integer(_ value: Int) -> HARValue { .literal(String(value)) }

    /// The number; -1 if it is not known, as the format requires.
    static func count(_ value: Int?) -> HARValue { .integer(value ?? -1) }

    /// Milliseconds with at most three decimals; -1 if there is no time.
    static func milliseconds(_ time: Duration?) -> HARValue {
        guard let time else { return .integer(-1) }
        let microseconds = max(0, time.wholeMicroseconds)
        let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1000)
        guard rest > 0 else { return .literal(String(whole)) }
        var digits = String(String(1000 + rest).dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return .literal("\(whole).\(digits)")
    }

    func write(to printer: inout JSONPrinter) {
        switch self {
        case .literal(let text): printer.literal(text)
        case .string(let text): printer.string(text)
        case .array(let elements): printer.array(elements) { $0.write(to: &$1) }
        case .object(let members): printer.object(members) { $0.write(to: &$1) }
        case .other(let value): printer.literal(value.description)
        }
    }
}
