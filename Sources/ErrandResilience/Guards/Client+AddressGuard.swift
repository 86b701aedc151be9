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
    /// before it sends a request on a connection, which may be a kept one. If a name has several addresses, the refused
    /// ones are skipped. If all are refused, the request fails with ``ErrandError/addressRefused`` and is not retried.
    /// The error's message has the address and the rule.
    ///
    /// - Through a proxy the engine connects to the proxy, so the guard judges the proxy's address. A proxy in a private
    ///   network needs a rule that allows it.
    /// - An address in the URL itself, in any notation, is judged behind a proxy too, before anything is sent. A name is
    ///   looked up by the proxy, which has to judge its addresses; ``AddressGuard/proxiedNames`` can refuse names. This
    ///   is also true for `socks5://` and `socks4://`, for which a client without a guard looks names up itself.
    /// - A Unix socket (``ConnectionOptions/unixSocketPath``) has no address and is not judged.
    /// - The guard belongs to the client's engine. Only clients with an equal guard use the engine's connections: those
    ///   of the same ``SharedEngine``, or this client alone. The guard has no effect on a client that is made with a
    ///   transport: that transport opens the sockets.
    /// - A command may have another guard, or none (``Command/resilience``). Its requests share no connections with the
    ///   others. On a ``SharedEngine``, clients whose commands have equal guards share connections and counts for these
    ///   commands.
    /// - ``Client/addressGuardCounts`` tells what the guard has refused. With ``AddressGuard/isDryRun`` it refuses
    ///   nothing, and the counts tell what it would have refused.
    public var addressGuard: AddressGuard? {
        get { (addressFilter as? AddressGuardFilter)?.subject }
        set { addressFilter = newValue.map { AddressGuardFilter(template: $0) } }
    }
}

extension Client {
    /// What the client's guard has refused so far, or would have refused in a dry run; `nil` without
    /// ``Configuration/addressGuard``, and for a client that was made with a transport. On a ``SharedEngine`` the counts
    /// are those of the engine, for all its clients. Any thread; stays readable after a shutdown.
    public var addressGuardCounts: AddressGuard.Counts? { (addressFilter as? AddressGuardFilter)?.counts }

    /// What a guard of commands (``Command/resilience``) has refused so far, for all commands of the client with an
    /// equal guard; `nil`: no recent request had such a guard. On a ``SharedEngine`` the counts are those of the
    /// engine, for all its clients. The engine remembers the 64 guards of commands that were used last. A guard that
    /// was forgotten begins to count anew. A guard that equals the client's is the client's. Any thread; stays readable
    /// after a shutdown.
    public func addressGuardCounts(of subject: AddressGuard) -> AddressGuard.Counts? {
        (addressFilter(judgingAs: AddressGuardFilter(template: subject)) as? AddressGuardFilter)?.counts
    }
}
