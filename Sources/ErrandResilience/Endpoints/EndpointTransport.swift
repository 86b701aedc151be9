/// Gives each transfer an endpoint. Ids are those of the transport beneath.
package final class EndpointTransport: StackedTransport {
    package let base: any Transport
    let groups: [String: EndpointGroup]

    /// Of several settings for one origin the last counts.
    package init(
        _ base: any Transport, _ endpoints: [ServiceEndpoints], stopwatch: Stopwatch,
        connection: ConnectionOptions = ConnectionOptions().resolved
    ) {
        self.base = base
        groups = Dictionary(
            endpoints.map { ($0.origin, EndpointGroup($0, stopwatch: stopwatch, connection: connection)) },
            uniquingKeysWith: { $1 })
    }

    package func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        let url = URLReference(description.url)
        guard let group = groups[url.origin], group.isReady() else {
            return try base.submit(description, for: receiver)
        }
        let lease = try lease(of: group, for: description)
        var description = description
        do throws(ErrandError) {
            try description.go(to: lease.endpoint, url, of: group)
            let isStreamed = description.delivery == .streamed
            return try base.submit(description, for: EndpointReceiver(receiver, lease, isStreamed: isStreamed))
        } catch {
            lease.drop()
            throw error
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
    package func finishUpload(_ id: TransferID) { base.finishUpload(id) }
    package func failUpload(_ id: TransferID) { base.failUpload(id) }
    package func filesMayHaveChanged() { base.filesMayHaveChanged() }
    package func shutdown(_ stopped: @escaping @Sendable () -> Void) { base.shutdown(stopped) }
}

/// Gives the lease of an endpoint back when the transfer has ended.
///
/// `@unchecked Sendable`: what this class adds is constant and itself safe to share.
private final class EndpointReceiver: ForwardingReceiver, @unchecked Sendable {
    private let lease: EndpointLease
    private let isStreamed: Bool

    init(_ receiver: TransferReceiver, _ lease: EndpointLease, isStreamed: Bool) {
        self.lease = lease
        self.isStreamed = isStreamed
        super.init(to: receiver)
    }

    override func receive(_ event: TransferEvent.Kind) {
        switch event {
        // How long the caller reads a stream says nothing about the server.
        case .head(let head) where isStreamed: lease.answered(head.statusCode)
        case .ended(.response(let response)): lease.answered(response.statusCode)
        case .ended(.failure(let error)):
            // Cancellations, refusals and a lack of descriptors say nothing about the server.
            BreakerOutcome(error: error) == .failure ? lease.fail() : lease.drop()
        default: break
        }
        super.receive(event)
    }
}

extension EndpointLease {
    fileprivate func answered(_ status: Int) {
        status < 500 ? succeed() : fail()
    }
}

extension RequestDescription {
    /// Sends the request to the endpoint. Throws ``ErrandError/unsupportedScheme`` where the request requires TLS.
    fileprivate mutating func go(to endpoint: Endpoint, _ url: URLReference, of group: EndpointGroup)
        throws(ErrandError)
    {
        if let address = endpoint.address {
            settings = group.settings(settings, to: address)
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
