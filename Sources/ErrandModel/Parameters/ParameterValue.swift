/// A value in ``Parameters``. Literals make values: `["page": 2, "tags": ["a", "b"], "sort": nil]`.
public enum ParameterValue: Sendable, Hashable {
    /// A name without a value in a query or form; `null` in JSON.
    case null
    /// `1` or `0` in a query or form, unless the style says otherwise.
    case bool(Bool)
    /// An integer.
    case int(Int64)
    /// A number. A number that is not finite is ``ErrandError/requestEncodingFailed``. A number without a fraction is
    /// written without a decimal point.
    case double(Double)
    /// Text.
    case string(String)
    /// `name[]=1&name[]=2` in a query or form, unless the style says otherwise.
    case array([ParameterValue])
    /// `name[key]=1` in a query or form, unless the style says otherwise.
    case object(Parameters)
    /// The name repeated, sorted by the encoded values. JSON has no sets (``ErrandError/requestEncodingFailed``).
    case set([ParameterValue])
}

extension ParameterValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// ``null``
    public init(nilLiteral: ()) { self = .null }
    /// ``bool(_:)``
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// ``int(_:)``
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// ``double(_:)``
    public init(floatLiteral value: Double) { self = .double(value) }
    /// ``string(_:)``
    public init(stringLiteral value: String) { self = .string(value) }
    /// ``array(_:)``
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }
    /// ``object(_:)``
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .object(Parameters(elements.map { Parameters.Pair($0.0, $0.1) }))
    }
}

extension ParameterValue {
    /// A scalar as text; `nil` for ``null`` and for arrays, objects and sets.
    func text(booleans: QueryStyle.Booleans) throws(ErrandError) -> String? {
        switch self {
        case .null, .array, .object, .set:
            return nil
        case .bool(let value):
            return switch booleans {
            case .numeric: value ? "1" : "0"
            case .literal: value ? "true" : "false"
            }
        case .int(let value):
            return String(value)
        case .double(let value):
            return try Self.text(value)
        case .string(let value):
            return value
        }
    }

    /// The shortest text that reads as the same number, as NSNumber writes it: `1` for 1.0.
    static func text(_ value: Double) throws(ErrandError) -> String {
        guard value.isFinite else {
            throw ErrandError.requestEncodingFailed.with(message: "a parameter is \(value), expected a finite number")
        }
        // Above 2^53 not every integer is a Double; a long row of digits would claim a precision that the value does
        // not have.
        if value == value.rounded(), abs(value) < 9_007_199_254_740_992 { return String(Int64(value)) }
        return "\(value)"
    }
}
