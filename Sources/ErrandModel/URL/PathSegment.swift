extension DefaultStringInterpolation {
    /// One segment of a path, percent-encoded as a whole (RFC 3986 3.3), so that a `/`, a `?` or a `%` in it is a part of the
    /// segment and leads nowhere else:
    ///
    /// ```swift
    /// var path: String { "users/\(segment: name)/photos" }
    /// ```
    ///
    /// The segments `.` and `..` become `%2E` and `%2E%2E`, which are not removed from the path as dot segments are. Many
    /// servers undo that all the same, and ``PathJoining/append`` refuses them with ``ErrandError/invalidURL``.
    public mutating func appendInterpolation(segment value: some CustomStringConvertible) {
        let text = value.description
        switch text {
        case ".", "..": appendLiteral(text.replacing(".", with: "%2E"))
        default: appendLiteral(PercentEncoding.component(text))
        }
    }
}
