/// Carries the transfers of one request instead of the client's transport, such as the run of a group's children or
/// the transfers of a download.
package protocol RequestCarrier: Transport {
    /// Whether the request writes its response's body to a file.
    var isDownload: Bool { get }

    /// The request was stopped. Before `submit` has returned, the request has no transfer id to cancel.
    func requestStopped()

    /// The request's client is shut down.
    func clientStops()
}

extension RequestCarrier {
    package var isDownload: Bool { false }
    package func requestStopped() {}
    package func clientStops() {}

    // Without effect: groups have no streams, and what a carrier sends goes through the client's transport.

    package func grant(_ id: TransferID, bytes: Int) {}
    package func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {}
    package func write(shared bytes: SharedBytes, to id: TransferID) {}
    package func finishUpload(_ id: TransferID) {}
    package func failUpload(_ id: TransferID) {}
    package func restartUpload(_ id: TransferID, after attempt: Int) {}
    package func filesMayHaveChanged() {}

    /// Nothing to shut down: the carrier uses the client's transport.
    package func shutdown(_ stopped: @escaping @Sendable () -> Void) { stopped() }
}

/// Runs a group's children: the transfer of the group's request is the run of its children.
package protocol GroupCarrier: RequestCarrier {
    /// The value of a run that has succeeded; `nil` before.
    func value() -> (any Sendable)?

    /// Whether all children that have ended took their responses from a cache.
    var isFromCache: Bool { get }
}

/// Replaces the client's engine for a request: it runs the children of a ``Batch``, a ``Chain`` or a ``RequestGraph``,
/// or the transfers of a ``Download``.
public struct GroupCoordinator: Sendable {
    package let carrier: any RequestCarrier

    package init(carrier: any RequestCarrier) {
        self.carrier = carrier
    }
}
