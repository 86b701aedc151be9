extension Client.Configuration {
    /// The hosts that the client reaches by https alone (HTTP Strict Transport Security, RFC 6797); `nil`, the default:
    /// none, at no cost. Clients may share one store.
    ///
    /// ```swift
    /// let store = HSTSStore(preloads: [.init("example.com")])
    /// try store.load(from: "/var/lib/service/hsts")
    /// configuration.hsts = store
    /// ```
    ///
    /// An http URL to a host of the store becomes an https URL (RFC 6797 8.3) before anything is decided about it. So
    /// credentials, ``TLSPolicies``, ``ConnectionOptions/TLS/requiresTLS``, caches and the rules for redirects see the
    /// https URL. That holds for the URLs of commands, redirects, redirect policies, interceptors and downloads. An
    /// `http` ``Client/Settings/baseURL`` counts as the client's own origin also in its https form.
    ///
    /// Responses over TLS teach the store with their `Strict-Transport-Security` field, unless the transfer's options
    /// accept any certificate or host name. Addresses are never stored (8.1.1). TLS errors fail the request as without
    /// HSTS: nothing falls back to http (8.4).
    public var hsts: HSTSStore? {
        get { urlUpgrade as? HSTSStore }
        set {
            urlUpgrade = newValue
            layers.removeAll { $0 is HSTSLayer }
            if let newValue { layers.append(HSTSLayer(store: newValue)) }
        }
    }
}
