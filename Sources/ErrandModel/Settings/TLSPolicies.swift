/// TLS settings by host: a private authority, pins, a client certificate or a minimum version for one service and not
/// for another. They can be exchanged while the client runs, by ``Client/reconfigure(_:)``. AFNetworking's
/// `AFSecurityPolicy` applied to all hosts.
///
/// ```swift
/// settings.tlsPolicies["api.example.com"] = .init(pinnedKeys: [current, backup])
/// settings.tlsPolicies["*.internal"] = .init(caFile: "/etc/ssl/internal.pem", minimumVersion: .v1_3)
/// ```
///
/// One entry applies to a host: the entry of exactly that host, otherwise that of the longest matching `*.` pattern,
/// otherwise ``default``. The entry replaces the client's ``ConnectionOptions/tls`` and inherits its `nil` members from
/// there. The TLS settings of the request's own ``ConnectionOptions`` take precedence, member by member. After a redirect
/// to another origin the entry of the new host applies; a client certificate is used there only if an entry in `hosts`
/// names one for that host.
///
/// Clear text is refused for a host whose settings pin keys, or whose entry names a client certificate, see
/// ``ConnectionOptions/TLS/requiresTLS``.
///
/// Hosts are compared as libcurl looks them up: percent-escapes decoded, international names as A-labels, in lower
/// case. `bücher.example` and `xn--bcher-kva.example` are the same, here and in URLs. An address is compared as it is
/// written.
public struct TLSPolicies: Sendable, Hashable {
    /// For hosts without an entry. `nil`, the default: the client's ``ConnectionOptions/tls``.
    public var `default`: ConnectionOptions.TLS?
    /// By pattern: a host (`api.example.com`, `bücher.example`, `10.0.0.1`, `[::1]`), or `*.example.com` for every name
    /// below `example.com`, at any depth, but not for `example.com`. Any other pattern fails every request with
    /// ``ErrandError/invalidOption``.
    public var hosts: [String: ConnectionOptions.TLS]

    /// Makes policies.
    public init(default: ConnectionOptions.TLS? = nil, hosts: [String: ConnectionOptions.TLS] = [:]) {
        self.default = `default`
        self.hosts = hosts
    }

    /// The entry for this pattern.
    public subscript(pattern: String) -> ConnectionOptions.TLS? {
        get { hosts[pattern] }
        set { hosts[pattern] = newValue }
    }
}
