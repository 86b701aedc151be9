import HTTPTypes
import Synchronization

/// Sends transfers to alternative services of their origins (RFC 7838), and to the origin if an alternative fails.
/// Responses over TLS without a fault teach the ``AltServiceCache``.
///
/// Only transfers to an alternative have an id of this transport: the top bit is set. All other transfers keep their
/// ids, which are short. If the transport beneath may give any numbers, a ``RenumberingTransport`` is put between the
/// two.
final class AltServiceTransport: StackedTransport, DormantTransport {
    private static let ownIDs: UInt64 = 1 << 63
    /// RFC 7838 5.
    static let altUsed = HTTPField.Name("Alt-Used")

    let base: any Transport
    /// The client's; `nil`: only commands have caches.
    let cache: AltServiceCache?
    var isDormant: Bool { cache == nil }
    let stopwatch: Stopwatch
    /// The options of transfers that have none of their own.
    private let connection: ConnectionOptions
    /// Whether a signer gets the numbers of attempts.
    private let needsTrail: Bool
    private let lastID = Atomic<UInt64>(0)
    private let calls = Mutex<[TransferID: AltServiceCall]>([:])

    init(_ base: any Transport, _ cache: AltServiceCache?, stopwatch: Stopwatch, connection: ConnectionOptions) {
        self.base = base.hasShortIDs ? base : RenumberingTransport(base)
        self.cache = cache
        self.stopwatch = stopwatch
        self.connection = connection.resolved
        needsTrail = SigningTransport.isBeneath(base)
    }

    /// The transfers to alternatives that have not ended.
    var count: Int { calls.withLock { $0.count } }

    func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        guard let cache = cache(for: description), let origin = origin(of: description) else {
            return try base.submit(description, for: receiver)
        }
        let found = cache.services(of: origin.text).first { usable($0, at: origin, for: description) != nil }
        guard let service = found, var altered = usable(service, at: origin, for: description) else {
            return try base.submit(description, for: AltServiceReceiver(receiver, origin.text, cache))
        }
        var description = description
        if needsTrail, description.trail == nil {
            let trail = AttemptTrail()
            description.trail = trail
            altered.trail = trail
        }
        let id = TransferID(rawValue: Self.ownIDs | lastID.wrappingAdd(1, ordering: .relaxed).newValue)
        let call = AltServiceCall(
            id, description, for: receiver, origin: origin.text, service,
            at: altered.settings.connection?.connectTo ?? "", beganAt: stopwatch.now(), cache, of: self)
        calls.withLock { $0[id] = call }
        cache.wasChosen()
        do throws(ErrandError) {
            try call.begin(altered)
        } catch {
            forget(call)
            throw error
        }
        return id
    }

    /// `nil`: the transfer uses no alternatives, and teaches nothing.
    private func cache(for description: RequestDescription) -> AltServiceCache? {
        guard description.hasRareMembers, let replaced = description.replacedResilience else { return cache }
        return replaced.altServices.part(client: cache)
    }

    private struct Origin {
        let text: String
        let place: String
    }

    /// The origin of a transfer that may use alternatives and whose response may teach the cache; `nil`: neither.
    private func origin(of description: RequestDescription) -> Origin? {
        let reference = URLReference(description.url)
        guard reference.scheme?.lowercased() == "https" else { return nil }
        let options = options(of: description)
        guard options.tls.checksCertificates, options.proxy == nil, options.unixSocketPath == nil,
            // An alternative would lead past the choice of an endpoint.
            !description.hasEndpointAddress
        else { return nil }
        let text = reference.origin
        return Origin(text: text, place: String(text.dropFirst("https://".count)))
    }

    private func options(of description: RequestDescription) -> ConnectionOptions {
        description.settings.hasConnection ? description.settings.connection ?? connection : connection
    }

    /// The description of the transfer to the alternative; `nil`: the transfer cannot use it.
    private func usable(
        _ service: AltService, at origin: Origin, for description: RequestDescription
    ) -> RequestDescription? {
        var options = options(of: description)
        guard !description.isWritten, options.httpVersion != .http2PriorKnowledge else { return nil }
        let mayHTTP2 =
            options.httpVersion == .http2OverTLS
            || options.httpVersion ?? .automatic == .automatic
                && EngineHTTP2.isDefault
        switch service.protocolID {
        case "h2": guard mayHTTP2 else { return nil }
        case "http/1.1": options.httpVersion = .http1
        default: return nil
        }
        let colon = origin.place.lastIndex(of: ":") ?? origin.place.endIndex
        let host = service.host.isEmpty ? String(origin.place[..<colon]) : service.host
        let place = "\(host):\(service.port)"
        guard place != origin.place, place.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") }) else { return nil }
        options.connectTo = place
        var altered = description
        altered.settings = description.settings.with(
            connection: options, requiresTLS: description.settings.requiresTLS)
        if let name = Self.altUsed { try? altered.headers.set(name, to: place) }
        return altered
    }

    func forget(_ call: AltServiceCall) {
        calls.withLock { $0[call.id] = nil }
    }

    /// Gives an order to the call of the id, or to the transport beneath. Orders for a call that has ended are dropped.
    private func order(_ id: TransferID, _ own: (AltServiceCall) -> Void, beneath: () -> Void) {
        guard id.rawValue & Self.ownIDs != 0 else { return beneath() }
        if let call = calls.withLock({ $0[id] }) { own(call) }
    }

    func cancel(_ id: TransferID) {
        order(id, { $0.cancel() }, beneath: { base.cancel(id) })
    }

    func pause(_ id: TransferID) {
        order(id, { $0.pause() }, beneath: { base.pause(id) })
    }

    func resume(_ id: TransferID) {
        order(id, { $0.resume() }, beneath: { base.resume(id) })
    }

    func grant(_ id: TransferID, bytes: Int) {
        order(id, { $0.grant(bytes) }, beneath: { base.grant(id, bytes: bytes) })
    }

    // The body of a transfer to an alternative is never written by the caller.
    func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) { base.write(bytes, to: id) }
    func write(shared bytes: SharedBytes, to id: TransferID) { base.write(shared: bytes, to: id) }
    func finishUpload(_ id: TransferID) { base.finishUpload(id) }
    func failUpload(_ id: TransferID) { base.failUpload(id) }
    func restartUpload(_ id: TransferID, after attempt: Int) { base.restartUpload(id, after: attempt) }
    func filesMayHaveChanged() { base.filesMayHaveChanged() }
    func shutdown(_ stopped: @escaping @Sendable () -> Void) { base.shutdown(stopped) }
}

/// Reads the field of a response before the request sees the response.
///
/// `@unchecked Sendable`: what this class adds is constant.
class AltServiceReceiver: ForwardingReceiver, @unchecked Sendable {
    private static let altSvc = HTTPField.Name("Alt-Svc")

    final let origin: String
    final let cache: AltServiceCache

    init(_ receiver: TransferReceiver, _ origin: String, _ cache: AltServiceCache) {
        self.origin = origin
        self.cache = cache
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

    final func learn(_ response: Response) {
        // RFC 7838 6: a 421 announces nothing.
        guard response.statusCode != 421, let name = Self.altSvc else { return }
        let values = response.headers[fields: name].map(\.value)
        guard !values.isEmpty else { return }
        let age = response.headers[.age].flatMap { Int64($0) } ?? 0
        cache.learn(values, from: origin, age: age, overFaultlessTLS: true)
    }
}
