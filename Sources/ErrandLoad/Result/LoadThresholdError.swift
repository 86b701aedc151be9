/// Why text is not a ``LoadThreshold``.
public struct LoadThresholdError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text.
    public let text: String
    /// The position of the problem in the text, in Unicode scalars from 0. The number of scalars means the end of the
    /// text.
    public let position: Int
    /// The problem at this position, in words.
    public let problem: String

    /// The problem with its place, such as `"p99>": a number is missing at character 5`.
    public var description: String { "\"\(text)\": \(problem) at character \(position + 1)" }
}
