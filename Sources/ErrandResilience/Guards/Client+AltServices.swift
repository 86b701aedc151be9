extension Client.Configuration {
    /// The alternative services (`Alt-Svc`, RFC 7838) that the client learns from responses and uses; `nil`, the
    /// default: none, at no cost. Clients may share one cache.
    ///
    /// A transfer to an https origin goes to the first alternative of the cache that this engine can use: HTTP/2 where
    /// the transfer may speak it, or HTTP/1.1, over TLS. The certificate must be one for the origin's host (2.1), and
    /// ``addressGuard`` judges the alternative's address. If the alternative cannot be reached, has another
    /// certificate, or answers 421, the transfer goes to the origin in the time that is left, and the alternative is
    /// left out for five minutes. Transfers through a proxy or a Unix socket, those whose body is written while it is
    /// sent, and those that accept any certificate use no alternatives.
    ///
    /// Each alternative has connections of its own. HTTP/3 is not used.
    public var altServices: AltServiceCache? {
        get {
            layers.lazy.compactMap { ($0 as? AltServiceLayer)?.cache }.first
        }
        set {
            layers.removeAll { $0 is AltServiceLayer }
            if let newValue { layers.append(AltServiceLayer(cache: newValue)) }
        }
    }
}
