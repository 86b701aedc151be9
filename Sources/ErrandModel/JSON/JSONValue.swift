/// Any JSON value: the result of ``Response/json()``, the value that ``JSONShape`` checks, and a command's `Response`
/// where no other type fits.
///
/// ```swift
/// let value = try response.json()
/// let name = value["users"]?[0]?["name"]?.string
/// ```
///
/// Whole numbers that fit an `Int64` are exact; others are a `Double`. `1`, `1.0` and `1e0` are the same number, and
/// equal. Text is read as Foundation's decoder reads it: a comma after the last element is accepted, against RFC 8259;
/// if an object has a name twice, the first value is used (RFC 8259 4 leaves it open); 512 levels are the limit.
public enum JSONValue: Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// Another number.
    case number(Double)
    /// Text.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// Names and values, in no order.
    case object([String: JSONValue])
}

extension JSONValue {
    /// The member of that name; `nil` if it is missing or this is not an object.
    public subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The element at that index; `nil` if there is none or this is not an array.
    public subscript(index: Int) -> JSONValue? {
        if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { nil }
    }

    /// Whether this is `null`.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The boolean; `nil` for any other value.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number if it is whole and fits; `nil` for any other value.
    public var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The number, rounded to a `Double` if necessary; `nil` for any other value.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The text; `nil` for any other value.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements; `nil` for any other value.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members; `nil` for any other value.
    public var object: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The same value without members that are `null`, at any depth; elements of arrays stay (AFNetworking
    /// `removesKeysWithNullValues`).
    public var removingNulls: JSONValue {
        switch self {
        case .array(let elements):
            .array(elements.map(\.removingNulls))
        case .object(let members):
            .object(members.compactMapValues { $0.isNull ? nil : $0.removingNulls })
        default:
            self
        }
    }
}

extension JSONValue: Hashable {
    /// Numbers are equal by value, in either case.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.integer(let left), .number(let right)), (.number(let right), .integer(let left)):
            Int64(exactly: right) == left
        case (.string(let left), .string(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Equal numbers have equal hashes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .number(let value):
            if let integer = Int64(exactly: value) { hasher.combine(integer) } else { hasher.combine(value) }
        case .string(let value): hasher.combine(value)
        case .array(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members)
        }
    }
}

extension JSONValue: Codable {
    /// Encodes the value. A `Double` that is not finite is an error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONValue: ResponseConvertible {
    /// The body decoded as JSON; see ``Response/json()``.
    public init(response: Response) throws {
        self = try response.json()
    }
}

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
