/// The underlying error of ``ErrandError/groupFailed``: which child failed its group, and the child's error.
public struct GroupFailure: Error {
    /// The child's number, from 0: its place in a batch or a graph; in a chain the number of its entry in
    /// ``GroupResults``, where each repetition counts.
    public let index: Int
    /// The name of the step or member, if it has one; children of batches have none.
    public let name: String?
    /// The child's error; for a child that is a group, its ``ErrandError/groupFailed``.
    public let error: ErrandError
}

extension ErrandError {
    /// For ``groupFailed``: the failed child and its error; `nil` for any other error.
    public var groupFailure: GroupFailure? { underlyingError as? GroupFailure }

    static func group(failedBy index: Int, named name: String?, _ error: ErrandError) -> ErrandError {
        let child = name.map { "\(index) ('\($0)')" } ?? "\(index)"
        return groupFailed.with(
            message: "child \(child) failed: \(error.shortDescription): \(error.message)", response: error.response,
            underlying: GroupFailure(index: index, name: name, error: error))
    }
}
