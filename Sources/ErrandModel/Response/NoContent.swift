/// The value of a command whose response body is of no interest.
public struct NoContent: Sendable, Hashable {
    /// Makes the value; there is only one.
    public init() {}
}
