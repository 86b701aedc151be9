/// Beneath ``ErrandError/groupFailed``: which child failed its group, and with what.
public struct GroupFailure: Error {
    /// The child's number, from 0: its place in a batch or a graph, its turn in a chain.
    public let index: Int
    /// The child's name, where it has one.
    public let name: String?
    /// The child's error.
    public let error: ErrandError
}

extension ErrandError {
    /// Of ``groupFailed``: the child that failed, and its error.
    public var groupFailure: GroupFailure? { underlyingError as? GroupFailure }

    static func group(failedBy index: Int, named name: String?, _ error: ErrandError) -> ErrandError {
        let child = name.map { "\(index) ('\($0)')" } ?? "\(index)"
        return groupFailed.with(
            message: "child \(child) failed: \(error)", response: error.response,
            underlying: GroupFailure(index: index, name: name, error: error))
    }
}
