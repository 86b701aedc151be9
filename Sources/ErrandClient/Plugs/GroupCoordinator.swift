/// Replaces the client's engine for a request: it runs the children of a ``Batch``, a ``Chain`` or a ``RequestGraph``,
/// or the transfers of a ``Download``.
public struct GroupCoordinator: Sendable {
    package let carrier: any RequestCarrier

    package init(carrier: any RequestCarrier) {
        self.carrier = carrier
    }
}
