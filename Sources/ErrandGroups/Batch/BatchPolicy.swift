/// What the failure of a child means for its batch.
public enum BatchPolicy: Sendable, Hashable {
    /// The first failure stops the other children and fails the batch with ``ErrandError/groupFailed`` (YTKNetwork
    /// `YTKBatchRequest`).
    case failFast
    /// Every child runs to its end. The batch succeeds even where children fail, and each result says how its child
    /// ended.
    case collectAll
    /// The batch succeeds after this number of successes and stops the other children. It fails as soon as the number
    /// can no longer be reached. A quorum of 0 is reached before any child is made. A number below 0 or above the
    /// number of children is ``ErrandError/invalidArgument`` before anything is sent.
    case quorum(Int)
}
