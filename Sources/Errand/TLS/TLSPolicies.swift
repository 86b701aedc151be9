/// TLS settings by host: an authority of one's own, pins, a client certificate, a least version for one service and not
/// for the next. Exchangeable while the client runs, by ``Client/reconfigure(_:)`` (AFNetworking `AFSecurityPolicy`, which
/// knew one for all hosts).
///
/// ```swift
/// settings.tlsPolicies["api.example.com"] = .init(pinnedKeys: [current, backup])
/// settings.tlsPolicies["*.internal"] = .init(caFile: "/etc/ssl/internal.pem", minimumVersion: .v1_3)
/// ```
///
/// The first of these decides about a host: the TLS settings of the request's own ``ConnectionOptions`` where they are not
/// the default ones; the entry of that very host; the entry of the longest `*.` pattern; ``default``; what
/// else there is, which is the client's ``ConnectionOptions/tls`` for requests without options of their own. Settings replace one another as a whole. A redirect to another origin is decided anew, and
/// there only an entry for that host brings a client certificate.
///
/// Hosts are compared in lower case, percent-escapes undone. With entries in it, a URL whose host is not ASCII is
/// ``ErrandError/invalidURL``: it has to be written as an A-label (`xn--...`), or a name that libcurl maps to a pinned
/// one could pass by its pins. An address is compared as it is written.
public struct TLSPolicies: Sendable, Hashable {
    /// For hosts without an entry. `nil`, the default: the client's ``ConnectionOptions/tls``.
    public var `default`: ConnectionOptions.TLS?
    /// By pattern: a host (`api.example.com`, `10.0.0.1`, `[::1]`), or `*.example.com` for every name below
    /// `example.com`, however deep, but not for itself. Anything else fails every request with
    /// ``ErrandError/invalidOption``.
    public var hosts: [String: ConnectionOptions.TLS]

    /// Makes policies.
    public init(default: ConnectionOptions.TLS? = nil, hosts: [String: ConnectionOptions.TLS] = [:]) {
        self.default = `default`
        self.hosts = hosts
    }

    /// The entry of that pattern.
    public subscript(pattern: String) -> ConnectionOptions.TLS? {
        get { hosts[pattern] }
        set { hosts[pattern] = newValue }
    }
}
