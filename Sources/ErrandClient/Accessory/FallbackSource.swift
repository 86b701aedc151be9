/// The kind of a `Fallback`'s answer, in ``RequestEvent/fellBack(after:source:)``.
public enum FallbackSource: String, Sendable, Hashable, CaseIterable {
    /// A response, or a value as JSON, that was given in advance or made by a closure.
    case response
    /// The response of another command.
    case command
    /// The stored response, fresh or expired.
    case stale
}

extension FallbackSource: CustomStringConvertible {
    /// The name of the case.
    public var description: String { rawValue }
}
