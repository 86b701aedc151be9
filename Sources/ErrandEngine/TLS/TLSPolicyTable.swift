/// Prepared ``TLSPolicies``: for each entry, the settings of requests without TLS settings of their own are composed
/// once. A request then costs a look-up and no allocation, and equal entries share connections.
package struct TLSPolicyTable: Sendable {
    package struct Entry: Sendable {
        /// The entry's own members.
        package let own: ConnectionOptions.TLS
        /// The same with inherited members.
        package let tls: ConnectionOptions.TLS
        /// The client's default settings with this TLS.
        package let settings: TransferSettings
    }

    /// By host in lower case.
    private var exact: [Substring: Entry] = [:]
    /// By the text after `*.`.
    private var suffixes: [Substring: Entry] = [:]
    package let fallback: Entry?

    /// `plain`: the client's default settings. `connection`: the client's options. `engine`: the options with which the
    /// engine was started; a request with these needs no options of its own, which would separate its connections.
    /// Throws ``ErrandError/invalidOption``.
    package init(
        _ policies: TLSPolicies, plain: TransferSettings, connection: ConnectionOptions, engine: ConnectionOptions
    ) throws(ErrandError) {
        func entry(_ own: ConnectionOptions.TLS) -> Entry {
            var tls = own.inheriting(connection.tls)
            if own.namesClient, tls.requiresTLS == nil { tls.requiresTLS = true }
            return Entry(own: own, tls: tls, settings: plain.with(tls: tls, engine: engine))
        }
        fallback = policies.default.map(entry)
        for (pattern, tls) in policies.hosts {
            var host = pattern.lowercased()[...]
            let isWildcard = host.hasPrefix("*.")
            if isWildcard { host = host.dropFirst(2) }
            if host.utf8.last == UInt8(ascii: "."), host.utf8.count > 1 { host = host.dropLast() }
            guard let name = try? HostName.ascii(String(host)).lowercased()[...], Self.isHost(name) else {
                throw ErrandError.invalidOption.with(
                    message: "\(pattern.debugDescription) is not a host pattern of TLS policies")
            }
            host = name
            if isWildcard { suffixes[host] = entry(tls) } else { exact[host] = entry(tls) }
        }
    }

    /// The entry for a URL; `nil`: the client's own TLS. Throws ``ErrandError/invalidURL`` for an invalid host.
    package func entry(forURL url: String) throws(ErrandError) -> Entry? {
        try entry(ofURL: url) ?? fallback
    }

    /// The same without the fallback.
    package func entry(ofURL url: String) throws(ErrandError) -> Entry? {
        if exact.isEmpty, suffixes.isEmpty { return nil }
        let host = try HostName.lookedUp(by: URLReference(url))
        if let entry = exact[host] { return entry }
        var rest = host
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            if let entry = suffixes[rest] { return entry }
        }
        return nil
    }

    private static func isHost(_ host: Substring) -> Bool {
        guard !host.isEmpty else { return false }
        let isAddress = host.utf8.first == UInt8(ascii: "[") && host.utf8.last == UInt8(ascii: "]")
        return host.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            case 0x3A, 0x5B, 0x5D, 0x25: isAddress
            default: false
            }
        }
    }
}
