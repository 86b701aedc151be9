/// What the failure of a child means for its batch.
public enum BatchPolicy: Sendable, Hashable {
    /// The first failure stops the rest and fails the batch with ``ErrandError/groupFailed`` (YTKNetwork
    /// `YTKBatchRequest`).
    case failFast
    /// Every child runs to its end; the batch succeeds, whatever they end with, and each result says how its child
    /// ended.
    case collectAll
    /// So many successes are enough: then the rest is stopped. The batch fails as soon as they cannot be had any more.
    /// 0 is reached before any child is made; a number below that, or above that of the children, is
    /// ``ErrandError/invalidArgument`` before anything is sent.
    case quorum(Int)
}
