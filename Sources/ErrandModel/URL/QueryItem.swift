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
