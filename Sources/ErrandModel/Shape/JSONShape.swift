/// What a JSON value must look like, as data.
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
/// Every key of an object is required unless it is ``Field/optional(_:)``, extra keys are allowed unless the object is
/// ``exact(_:)``, every element of an array is checked, `null` passes only where it is named, and a bool is no number.
/// YTKNetwork calls this `jsonValidator`, whose rules differ in each of these points.
public indirect enum JSONShape: Sendable, Hashable {
    /// Whatever it is, `null` included.
    case any
    /// Text.
    case string
    /// A number, whole or not.
    case number
    /// A whole number; `1.0` is one, as JSON Schema has it.
    case integer
    /// `true` or `false`.
    case bool
    /// `null`.
    case null
    /// An object with these keys, and perhaps others.
    case object([String: Field])
    /// An object with these keys and no others.
    case exact([String: Field])
    /// An array each element of which has that shape, with so many elements.
    case array(of: JSONShape, count: ClosedRange<Int> = 0 ... .max)
    /// One of these values.
    case enumeration([JSONValue])
    /// At least one of these shapes.
    case oneOf([JSONShape])
    /// That shape, or `null`.
    case nullable(JSONShape)
}

extension JSONShape {
    /// An object with whatever keys it has.
    public static var anyObject: JSONShape { .object([:]) }

    /// An array of whatever elements, none included.
    public static var anyArray: JSONShape { .array(of: .any) }

    /// An array of at least so many elements.
    public static func array(of element: JSONShape, count: PartialRangeFrom<Int>) -> JSONShape {
        .array(of: element, count: count.lowerBound ... .max)
    }
}

extension JSONShape: ExpressibleByDictionaryLiteral {
    /// The same as ``object(_:)``; of a key that is given twice the last field stays.
    public init(dictionaryLiteral elements: (String, Field)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}

extension JSONShape: ExpressibleByArrayLiteral {
    /// `[.string]` is an array of strings, `[.string, .number]` one of both mixed, `[]` one of anything.
    public init(arrayLiteral elements: JSONShape...) {
        switch elements.count {
        case 0: self = .array(of: .any)
        case 1: self = .array(of: elements[0])
        default: self = .array(of: .oneOf(elements))
        }
    }
}

extension JSONShape: CustomStringConvertible {
    /// What an error says was expected: `string`, `array of at least 1`, `one of "a", "b"`.
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
