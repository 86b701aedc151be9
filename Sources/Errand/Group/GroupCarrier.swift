/// What a request has in place of the client's engine: it runs the children of a ``Batch``, a ``Chain`` or a
/// ``RequestGraph``, or the transfers of a ``Download``.
public struct GroupCoordinator: Sendable {
    let carrier: any Transport
}

/// What stands in the transport's place for a group's request: its transfer is the run of the group's children.
///
/// `@unchecked Sendable`: the base has no state; what subclasses have is guarded by their own locks.
class GroupCarrier: Transport, @unchecked Sendable {
    /// The value of the run that has ended well; `nil` before.
    func value() -> (any Sendable)? { nil }

    /// The children that run now, in order.
    var children: [AnyRequest] { [] }

    /// The child that the last run failed by; `nil` where there was none, or it was never made.
    var failedRequest: AnyRequest? { nil }

    /// Of a chain's steps, or a graph's members.
    var results: GroupResults { GroupResults() }

    /// Whether all children that have ended took their responses from a cache.
    var isFromCache: Bool { false }

    /// In how many groups this one is.
    var depth: Int {
        get { 0 }
        set {}
    }

    /// The request was stopped. Until `submit` has returned it has no number yet to cancel its run by.
    func requestStopped() {}

    /// The request's client is shut down.
    func clientStops() {}

    func submit(_ description: RequestDescription, for receiver: TransferReceiver) throws(ErrandError) -> TransferID {
        throw .internalFailure
    }
    func cancel(_ id: TransferID) {}
    func pause(_ id: TransferID) {}
    func resume(_ id: TransferID) {}

    /// The children's transport is shut down, not this.
    final func shutdown(_ stopped: @escaping @Sendable () -> Void) { stopped() }
}
