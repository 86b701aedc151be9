extension Client.Configuration {
    /// Judges every address that the client connects to, against server-side request forgery (SSRF); `nil`, the
    /// default: every address is allowed, at no cost.
    ///
    /// ```swift
    /// var configuration = Client.Configuration()
    /// configuration.addressGuard = AddressGuard(rules: [try .allow("10.1.0.0/16", ports: 443...443)])
    /// ```
    ///
    /// The engine asks the guard after the name was resolved and before it connects, for every redirect too, and again
    /// before it sends a request on a connection, which may be a kept one. Of several addresses of a name those that
    /// are refused are passed over. Where all are refused, the request fails with ``ErrandError/addressRefused``, is
    /// not retried, and the message has the address and the rule.
    ///
    /// - Through a proxy the engine connects to the proxy, so the guard judges the proxy's address. The proxy resolves
    ///   and judges the name of the server; a proxy in a private network needs a rule that allows it.
    /// - A Unix socket (``ConnectionOptions/unixSocketPath``) has no address and is not judged.
    /// - The guard belongs to the client's engine, which shares no connections with other clients. It has no effect on
    ///   a client that is made with a transport: that transport opens the sockets.
    public var addressGuard: AddressGuard? {
        get { addressFilter as? AddressGuard }
        set { addressFilter = newValue }
    }
}

extension AddressGuard: AddressFilter {
    /// Called by the engine, on its loop threads.
    package func refusal(of address: UnsafeRawBufferPointer, port: UInt16) -> String? {
        guard let address = IPAddress(bytes: address) else { return Self.unreadable }
        guard case .refused(let rule) = verdict(for: address, port: port) else { return nil }
        return rule
    }
}
