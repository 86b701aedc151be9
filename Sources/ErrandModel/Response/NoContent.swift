/// The value of a command that ignores the response's body.
public struct NoContent: Sendable, Hashable {
    /// Makes the value; all are equal.
    public init() {}
}
