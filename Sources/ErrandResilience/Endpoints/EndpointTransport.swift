/// Gives each transfer an endpoint of the client or of the command. Ids are those of the transport beneath.
package final class EndpointTransport: StackedTransport, ShortIDTransport, DormantTransport {
    package let base: any Transport
    private let beneath: Beneath
    package var idsAreShort: Bool { base.hasShortIDs }
    let groups: [String: EndpointGroup]
    /// The options of transfers that have none of their own.
    private let connection: ConnectionOptions
    var isDormant: Bool { groups.isEmpty }

    /// If several elements of `endpoints` have the same origin, the last one counts.
    package init(
        _ base: any Transport, _ endpoints: [ServiceEndpoints], stopwatch: Stopwatch,
        connection: ConnectionOptions = ConnectionOptions().resolved
    ) {
        self.base = base
        beneath = Beneath(base)
        self.connection = connection
        groups = Dictionary(
            endpoints.map { ($0.origin, EndpointGroup($0, stopwatch: stopwatch)) }, uniquingKeysWith: { $1 })
    }

    package func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        let url = URLReference(description.url)
        guard let group = group(of: url.lookedUpOrigin, for: description), group.isReady() else {
            return try beneath.submit(description, for: receiver)
        }
        let lease: EndpointLease
        do throws(ErrandError) {
            lease = try self.lease(of: group, for: description)
        } catch {
            description.tell(receiver, refusedSubmission: error, name: group.settings.origin)
            throw error
        }
        var description = description
        do throws(ErrandError) {
            try description.go(to: lease.endpoint, url, of: group, clientDefault: connection)
            description.tell(receiver, .endpoint(lease.endpoint.url))
            return try beneath.submit(description, for: EndpointReceiver(receiver, lease, of: description))
        } catch {
            lease.drop()
            throw error
        }
    }

    /// The endpoints that stand for the origin; `nil`: there are none.
    private func group(of origin: String, for description: RequestDescription) -> EndpointGroup? {
        guard description.hasRareMembers, let replaced = description.replacedResilience else { return groups[origin] }
        switch replaced.endpoints {
        case .client: return groups[origin]
        case .off: return nil
        case .own(let own): return own.origin == origin ? own.group : nil
        }
    }

    private func lease(of group: EndpointGroup, for description: RequestDescription) throws(ErrandError)
        -> EndpointLease
    {
        do throws(EndpointRefusal) {
            let lease = try group.set.pick(
                key: group.key(of: description), excluding: description.trail?.endpoints ?? [])
            description.trail?.add(endpoint: lease.endpoint.url)
            return lease
        } catch {
            throw ErrandError(error, of: group.settings.origin)
        }
    }

    // Orders go to the transport beneath, which has the same ids.

    package func cancel(_ id: TransferID) { base.cancel(id) }
    package func pause(_ id: TransferID) { base.pause(id) }
    package func resume(_ id: TransferID) { base.resume(id) }
    package func grant(_ id: TransferID, bytes: Int) { base.grant(id, bytes: bytes) }
    package func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) { base.write(bytes, to: id) }
    package func write(shared bytes: SharedBytes, to id: TransferID) { base.write(shared: bytes, to: id) }
    package func finishUpload(_ id: TransferID) { base.finishUpload(id) }
    package func failUpload(_ id: TransferID) { base.failUpload(id) }
    package func restartUpload(_ id: TransferID, after attempt: Int) { base.restartUpload(id, after: attempt) }
    package func filesMayHaveChanged() { base.filesMayHaveChanged() }
    package func shutdown(_ stopped: @escaping @Sendable () -> Void) { base.shutdown(stopped) }
}

/// Gives the lease of an endpoint back when the transfer has ended. A streamed response votes by its head.
///
/// `@unchecked Sendable`: what this class adds is constant and itself safe to share.
private final class EndpointReceiver: ForwardingReceiver, @unchecked Sendable {
    private let lease: EndpointLease
    private let isStreamed: Bool
    /// Whether the total time of the transfer is only the time that its caller has left.
    private let isCutShort: Bool
    /// Set if the transfer is hedged.
    private let trail: AttemptTrail?

    init(_ receiver: TransferReceiver, _ lease: EndpointLease, of description: RequestDescription) {
        self.lease = lease
        isStreamed = description.delivery == .streamed
        isCutShort = description.settings.isCutShort
        trail = description.trail
        super.init(to: receiver)
    }

    override func receive(_ event: TransferEvent.Kind) {
        switch event {
        // How long the caller reads a stream says nothing about the server.
        case .head(let head) where isStreamed:
            lease.vote(status: head.statusCode, retryAfter: head.retryAfterOfRefusal)
        case .ended(.response(let response)):
            lease.answer(status: response.statusCode, retryAfter: response.retryAfterOfRefusal)
        case .ended(.failure(let error)): failed(error)
        default: break
        }
        super.receive(event)
    }

    private func failed(_ error: ErrandError) {
        if BreakerOutcome(error: error, isCutShort: isCutShort) == .failure {
            lease.fail(retryAfter: error.response?.headers.retryAfter)
        } else if error == .cancelled, let trail, trail.hasWinner, let delay = trail.hedgeDelay {
            lease.lose(after: delay)
        } else if !error.isRefusal, error == .cancelled || error == .timeoutTotal {
            // The caller cancelled the request, or had less time than the request needs.
            lease.abandon()
        } else {
            // Refusals and a lack of file descriptors say nothing about the server.
            lease.drop()
        }
    }
}

extension Response {
    /// `Retry-After` of a 429 or a failure. The header fields of other responses are not parsed for it.
    fileprivate var retryAfterOfRefusal: Duration? {
        statusCode == 429 || statusCode >= 500 ? headers.retryAfter : nil
    }
}

extension RequestDescription {
    /// Sends the request to the endpoint. Throws ``ErrandError/unsupportedScheme`` where the request requires TLS.
    fileprivate mutating func go(
        to endpoint: Endpoint, _ url: URLReference, of group: EndpointGroup, clientDefault: ConnectionOptions
    ) throws(ErrandError) {
        if let address = endpoint.address {
            settings = group.settings(settings, to: address, clientDefault: clientDefault)
            hasEndpointAddress = true
            return
        }
        let place = URLReference(endpoint.url)
        guard !settings.requiresTLS || place.scheme == "https" else {
            throw ErrandError.unsupportedScheme.with(
                message:
                    "the TLS settings for '\(url.authority ?? "")' require https, and its endpoint is '\(endpoint.url)'",
                isRefusal: true)
        }
        var target = url
        target.scheme = place.scheme
        // Credentials in the URL stay.
        let user = url.authority.flatMap { authority in authority.lastIndex(of: "@").map { authority[...$0] } } ?? ""
        target.authority = user + (place.authority ?? "")
        self.url = target.text
    }
}
