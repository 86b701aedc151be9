import HTTPTypes

/// Teaches an ``HSTSStore`` from the responses of a client's transfers. A transfer that was described before its host
/// was known, such as the next transfer of a long download, is sent by https too if the store has the host by now.
///
/// Transfers keep the ids of the transport beneath. Only transfers over TLS without a fault have a receiver of their
/// own.
final class HSTSTransport: StackedTransport, ShortIDTransport, DormantTransport {
    let base: any Transport
    var idsAreShort: Bool { base.hasShortIDs }
    /// The client's; `nil`: only commands have stores.
    private let store: HSTSStore?
    var isDormant: Bool { store == nil }
    /// Whether transfers without options of their own check certificates.
    private let checksCertificates: Bool

    /// `connection`: the options of transfers that have none of their own.
    init(_ base: any Transport, _ store: HSTSStore?, connection: ConnectionOptions) {
        self.base = base
        self.store = store
        checksCertificates = connection.tls.checksCertificates
    }

    func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        guard let store = store(for: description) else { return try base.submit(description, for: receiver) }
        var description = description
        if let url = store.upgraded(description.url) {
            description.url = url
            store.urlWasUpgraded()
            description.tell(receiver, .upgraded(to: url))
        }
        guard let host = teacher(of: description) else { return try base.submit(description, for: receiver) }
        return try base.submit(description, for: HSTSReceiver(receiver, from: host, store))
    }

    /// `nil`: the transfer goes to its URL, and teaches nothing.
    private func store(for description: RequestDescription) -> HSTSStore? {
        guard description.hasRareMembers, let replaced = description.replacedResilience else { return store }
        return replaced.hsts.part(client: store)
    }

    /// The host whose response may teach the store; `nil`: it may not.
    private func teacher(of description: RequestDescription) -> String? {
        let reference = URLReference(description.url)
        guard reference.scheme?.lowercased() == "https" else { return nil }
        let settings = description.settings
        let checks =
            settings.hasConnection ? settings.connection?.tls.checksCertificates ?? false : checksCertificates
        guard checks, let host = try? HostName.lookedUp(by: reference) else { return nil }
        return String(host)
    }

    func cancel(_ id: TransferID) { base.cancel(id) }
    func pause(_ id: TransferID) { base.pause(id) }
    func resume(_ id: TransferID) { base.resume(id) }
    func grant(_ id: TransferID, bytes: Int) { base.grant(id, bytes: bytes) }
    func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) { base.write(bytes, to: id) }
    func write(shared bytes: SharedBytes, to id: TransferID) { base.write(shared: bytes, to: id) }
    func finishUpload(_ id: TransferID) { base.finishUpload(id) }
    func failUpload(_ id: TransferID) { base.failUpload(id) }
    func restartUpload(_ id: TransferID, after attempt: Int) { base.restartUpload(id, after: attempt) }
    func filesMayHaveChanged() { base.filesMayHaveChanged() }
    func shutdown(_ stopped: @escaping @Sendable () -> Void) { base.shutdown(stopped) }
}

/// Reads the field of a response before the request sees the response, so that a redirect in the same response is
/// followed by https.
///
/// `@unchecked Sendable`: what this class adds is constant.
private final class HSTSReceiver: ForwardingReceiver, @unchecked Sendable {
    private let host: String
    private let store: HSTSStore

    init(_ receiver: TransferReceiver, from host: String, _ store: HSTSStore) {
        self.host = host
        self.store = store
        super.init(to: receiver)
    }

    override func receive(_ event: TransferEvent.Kind) {
        switch event {
        case .head(let response): learn(response)
        case .ended(let result): if let response = result.response { learn(response) }
        case .chunk, .uploadCredit, .started, .connected, .sent, .progress, .retrying, .resending, .notResent, .decided:
            break
        }
        super.receive(event)
    }

    private func learn(_ response: Response) {
        let values = response.headers[fields: .strictTransportSecurity].map(\.value)
        store.learn(values, from: host, overFaultlessTLS: true)
    }
}

extension ConnectionOptions.TLS {
    /// Whether a certificate that is not trusted, or is for another host, ends the transfer.
    var checksCertificates: Bool {
        insecureAcceptAnyCertificate != true && insecureAcceptAnyHostName != true
    }
}
