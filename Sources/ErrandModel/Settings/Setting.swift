/// A member of ``ConnectionOptions`` that is not inherited: its own value, or the library's default.
///
/// ```swift
/// options.tls.caFile = "/etc/ssl/internal.pem"
/// options.tls.caFile = .value(path)
/// options.tls.caFile = .libraryDefault
/// options.tls.caFile = nil  // inherited
/// ```
public enum Setting<Value: Sendable & Hashable>: Sendable, Hashable {
    /// This value.
    case value(Value)
    /// The library's default, whatever would be inherited.
    case libraryDefault

    /// The value; `nil` for the library's default.
    public var value: Value? {
        switch self {
        case .value(let value): value
        case .libraryDefault: nil
        }
    }
}

extension Setting: ExpressibleByUnicodeScalarLiteral where Value == String {
    /// A text.
    public init(unicodeScalarLiteral value: String) { self = .value(value) }
}

extension Setting: ExpressibleByExtendedGraphemeClusterLiteral where Value == String {
    /// A text.
    public init(extendedGraphemeClusterLiteral value: String) { self = .value(value) }
}

extension Setting: ExpressibleByStringLiteral where Value == String {
    /// A text.
    public init(stringLiteral value: String) { self = .value(value) }
}

extension Setting: ExpressibleByIntegerLiteral where Value == UInt32 {
    /// A number.
    public init(integerLiteral value: UInt32) { self = .value(value) }
}
