/// A name and an optional value of a URL's query.
public struct QueryItem: Sendable, Hashable {
    /// Percent-encoded when it is sent.
    public var name: String
    /// Percent-encoded when it is sent; `nil` sends the name without `=`.
    public var value: String?

    /// Makes an item from text that is not encoded yet.
    public init(_ name: String, _ value: String?) {
        self.name = name
        self.value = value
    }
}

extension DefaultStringInterpolation {
    /// One segment of a path, percent-encoded as a whole (RFC 3986 3.3), so that a `/`, a `?` or a `%` in the value
    /// stays part of the segment and does not change the path:
    ///
    /// ```swift
    /// var path: String { "users/\(segment: name)/photos" }
    /// ```
    ///
    /// The segments `.` and `..` become `%2E` and `%2E%2E`, which are not removed from the path as dot segments are.
    /// Many servers decode and remove them anyway; ``PathJoining/append`` refuses them with ``ErrandError/invalidURL``.
    public mutating func appendInterpolation(segment value: some CustomStringConvertible) {
        let text = value.description
        switch text {
        case ".", "..": appendLiteral(text.replacing(".", with: "%2E"))
        default: appendLiteral(PercentEncoding.component(text))
        }
    }
}
