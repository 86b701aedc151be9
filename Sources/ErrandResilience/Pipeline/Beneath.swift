/// A transport that does nothing, unless the command of a request asks for it. It is part of clients whose settings do
/// not have its part, and changes no id of a request that passes it.
protocol DormantTransport: StackedTransport {
    var isDormant: Bool { get }
}

/// Where a transport submits its transfers. Transfers that need no dormant transport skip all of them, so the choices
/// of commands cost other requests nothing. Orders go to ``whole``, which has the same ids.
struct Beneath: Sendable {
    /// The next transport.
    let whole: any Transport
    /// The next one that is not dormant.
    let plain: any Transport

    init(_ base: any Transport) {
        whole = base
        var plain = base
        while let dormant = plain as? any DormantTransport, dormant.isDormant { plain = dormant.base }
        self.plain = plain
    }

    func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        guard description.choosesTransports else { return try plain.submit(description, for: receiver) }
        return try whole.submit(description, for: receiver)
    }
}

extension RequestDescription {
    /// Whether the command has endpoints, HSTS or alternative services of its own, or none.
    fileprivate var choosesTransports: Bool {
        hasRareMembers && replacedResilience?.choosesTransports ?? false
    }
}
