/// The shape that a JSON value must have, as data.
///
/// ```swift
/// var shape: JSONShape? {
///     [
///         "id": .integer,
///         "name": .optional(.string),
///         "state": .enumeration(["open", "closed"]),
///         "tags": .array(of: .string),
///         "owner": .nullable(["id": .integer]),
///     ]
/// }
/// ```
///
/// Every key of an object is required unless it is ``Field/optional(_:)``. Extra keys are allowed unless the object is
/// ``exact(_:)``. Every element of an array is checked. `null` is allowed only where the shape names it, and a bool is
/// not a number. YTKNetwork calls this `jsonValidator`, whose rules differ in each of these points.
public indirect enum JSONShape: Sendable, Hashable {
    /// Any value, `null` included.
    case any
    /// Text.
    case string
    /// A number, whole or not.
    case number
    /// A whole number; `1.0` is one, as in JSON Schema.
    case integer
    /// `true` or `false`.
    case bool
    /// `null`.
    case null
    /// An object with these keys, and possibly others.
    case object([String: Field])
    /// An object with these keys and no others.
    case exact([String: Field])
    /// An array whose elements all have that shape, with a number of elements within `count`.
    case array(of: JSONShape, count: ClosedRange<Int> = 0 ... .max)
    /// One of these values.
    case enumeration([JSONValue])
    /// At least one of these shapes.
    case oneOf([JSONShape])
    /// That shape, or `null`.
    case nullable(JSONShape)
}

extension JSONShape {
    /// An object with any keys.
    public static var anyObject: JSONShape { .object([:]) }

    /// An array with any elements, or none.
    public static var anyArray: JSONShape { .array(of: .any) }

    /// An array of at least `count.lowerBound` elements.
    public static func array(of element: JSONShape, count: PartialRangeFrom<Int>) -> JSONShape {
        .array(of: element, count: count.lowerBound ... .max)
    }
}

extension JSONShape: ExpressibleByDictionaryLiteral {
    /// The same as ``object(_:)``; if a key occurs twice, the last field is used.
    public init(dictionaryLiteral elements: (String, Field)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}

extension JSONShape: ExpressibleByArrayLiteral {
    /// `[.string]` is an array of strings, `[.string, .number]` an array that may mix both, `[]` an array of any
    /// values.
    public init(arrayLiteral elements: JSONShape...) {
        switch elements.count {
        case 0: self = .array(of: .any)
        case 1: self = .array(of: elements[0])
        default: self = .array(of: .oneOf(elements))
        }
    }
}

extension JSONShape: CustomStringConvertible {
    /// The expected value as errors name it: `string`, `array of at least 1`, `one of "a", "b"`.
    public var description: String {
        switch self {
        case .any: "any value"
        case .string: "string"
        case .number: "number"
        case .integer: "integer"
        case .bool: "bool"
        case .null: "null"
        case .object, .exact: "object"
        case .array(_, let count) where count == 0 ... .max: "array"
        case .array(_, let count): "array of \(Self.describe(count))"
        case .enumeration([]), .oneOf([]): "no value"
        case .enumeration(let values): "one of \(values.map { ShapeMismatch.literal($0) }.joined(separator: ", "))"
        case .oneOf(let shapes): shapes.map(\.description).joined(separator: " or ")
        case .nullable(let shape): "\(shape) or null"
        }
    }

    private static func describe(_ count: ClosedRange<Int>) -> String {
        if count.lowerBound == count.upperBound { return "\(count.lowerBound)" }
        if count.upperBound == .max { return "at least \(count.lowerBound)" }
        return "\(count.lowerBound) to \(count.upperBound)"
    }
}
