// There is no `nil` literal: a closure's `nil` that was meant as an `Optional` would silently become a `null`.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// A whole number.
    public init(integerLiteral value: Int64) {
        self = .integer(value)
    }

    /// A number.
    public init(floatLiteral value: Double) {
        self = .number(value)
    }

    /// Text.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// A list.
    public init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// An object; if a name occurs twice, the last value is used.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
