/// Why text is not the JSON of a ``LoadResult``.
public struct LoadResultError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The member, such as `requests[2].latency.hdr`; empty: the whole text.
    public let path: String
    /// What is wrong with it, in words.
    public let problem: String

    /// The member and the problem.
    public var description: String { path.isEmpty ? problem : "\(path): \(problem)" }
}
