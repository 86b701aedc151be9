/// TLS settings by host: an authority of one's own, pins, a client certificate, a least version for one service and not
/// for the next. Exchangeable while the client runs, by ``Client/reconfigure(_:)`` (AFNetworking `AFSecurityPolicy`, which
/// knew one for all hosts).
///
/// ```swift
/// settings.tlsPolicies["api.example.com"] = .init(pinnedKeys: [current, backup])
/// settings.tlsPolicies["*.internal"] = .init(caFile: "/etc/ssl/internal.pem", minimumVersion: .v1_3)
/// ```
///
/// One entry decides about a host: that of the very host, else that of the longest `*.` pattern, else ``default``. It
/// stands in place of the client's ``ConnectionOptions/tls`` and inherits from there what it leaves `nil`; the TLS settings
/// of the request's own ``ConnectionOptions`` come before it, member by member. A redirect to another origin is decided
/// anew, and there only an entry that names a client certificate brings one.
///
/// A host whose settings pin keys, or whose entry names a client certificate, is not spoken to in clear text, see
/// ``ConnectionOptions/TLS/requiresTLS``.
///
/// Hosts are compared as libcurl looks them up: percent-escapes undone, international names as A-labels, in lower case.
/// `bücher.example` and `xn--bcher-kva.example` are the same, here and in URLs. An address is compared as it is written.
public struct TLSPolicies: Sendable, Hashable {
    /// For hosts without an entry. `nil`, the default: the client's ``ConnectionOptions/tls``.
    public var `default`: ConnectionOptions.TLS?
    /// By pattern: a host (`api.example.com`, `bücher.example`, `10.0.0.1`, `[::1]`), or `*.example.com` for every name below
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
