/// Judges the address that a socket is about to connect to: a guard against server-side request forgery (SSRF).
///
/// With ``Client/Configuration/addressGuard``, a client's engine asks a guard. The guard judges an address, never a
/// name. A name may resolve to another address a moment later (DNS rebinding), and spellings such as `0x7f.1` or
/// `2130706433` are settled by the resolver. If you connect by other means, let the guard judge each address before the
/// connection, and also the peer's address of a kept connection that was made without this guard.
///
/// - Of all ranges that contain the address, the one with the longest prefix decides. Among ranges of equal length your
///   own rule decides before a special range, and a rule that denies before a rule that allows. For example,
///   `allow("10.1.0.0/16")` opens a part of 10.0.0.0/8, `deny("10.1.2.0/24")` closes a part of that again, and
///   `allow("0.0.0.0/0")` opens no special range.
/// - An address that no range contains is allowed.
/// - An IPv6 address that embeds an IPv4 address (IPv4-mapped, NAT64, 6to4, Teredo and others) is in a special range.
///   Where a rule allows the address, the embedded addresses must be allowed, too.
/// - A port outside of ``ports`` is refused, unless a rule that names the port allows the address.
///
/// A value: any thread. Source: the IANA registries of special-purpose addresses (RFC 6890).
public struct AddressGuard: Sendable, Hashable {
    /// What the guard does with host names that a proxy is asked for. The proxy looks the name up, so nobody but the
    /// proxy can judge the address. A client with a guard lets a SOCKS proxy look names up, even if the proxy's URL
    /// begins with `socks5://` or `socks4://`.
    public enum ProxiedNames: Sendable, Hashable {
        /// The proxy may be asked for every name. The proxy itself has to judge addresses.
        case allow
        /// The proxy must not be asked for a name. Requests to names that the proxy's bypass list contains are made
        /// without the proxy, and are judged by their addresses.
        case refuse
    }

    /// What the guard does with a range of addresses.
    public struct Rule: Sendable, Hashable {
        /// The addresses.
        public var range: AddressRange
        /// The ports of these addresses that the rule is about; `nil`: all ports.
        public var ports: ClosedRange<UInt16>?
        /// Whether connections are allowed.
        public var allows: Bool

        /// A rule that allows connections to the addresses. Throws ``ErrandError/invalidOption`` where `range` cannot
        /// be read.
        public static func allow(_ range: String, ports: ClosedRange<UInt16>? = nil) throws(ErrandError) -> Rule {
            try Rule(range: AddressRange(range), ports: ports, allows: true)
        }

        /// A rule that refuses connections to the addresses. Throws ``ErrandError/invalidOption`` where `range` cannot
        /// be read.
        public static func deny(_ range: String, ports: ClosedRange<UInt16>? = nil) throws(ErrandError) -> Rule {
            try Rule(range: AddressRange(range), ports: ports, allows: false)
        }

        /// Makes a rule.
        public init(range: AddressRange, ports: ClosedRange<UInt16>? = nil, allows: Bool) {
            self.range = range
            self.ports = ports
            self.allows = allows
        }

        /// `deny 10.0.0.0/8` or `allow 10.0.0.1/32 ports 80-80`.
        var name: String {
            let ports = ports.map { " ports \($0.lowerBound)-\($0.upperBound)" } ?? ""
            return "\(allows ? "allow" : "deny") \(range)\(ports)"
        }
    }

    /// The guard's answer. `rule` names the reason: a special range (`loopback`), one of your own rules
    /// (`deny 10.0.0.0/8`), `port`, `unreadable address`, or `proxied name`. The names are stable, fit for logs and
    /// metric labels.
    public enum Verdict: Sendable, Hashable {
        /// The connection may be made. `rule` is the rule that allows it; `nil`: no range contains the address.
        case allowed(rule: String?)
        /// The connection must not be made.
        case refused(rule: String)

        /// Whether the connection may be made.
        public var isAllowed: Bool {
            if case .allowed = self { true } else { false }
        }
    }

    /// Your own rules, in any order. Empty by default.
    public var rules: [Rule]
    /// The ports that connections may go to; empty, the default: all.
    public var ports: [ClosedRange<UInt16>]
    /// Whether the special ranges (``specialRanges``) are refused. True by default.
    public var refusesSpecialRanges: Bool
    /// If true, a client connects to every address, and ``Counts/wouldRefuse`` tells how many the guard would have
    /// refused. A dry run protects from nothing. Verdicts are the same. False by default.
    public var isDryRun: Bool
    /// Whether a proxy may be asked for a host name. An address in a URL is judged behind a proxy too. Allowed by
    /// default.
    public var proxiedNames: ProxiedNames

    /// Makes a guard. By default it refuses the special ranges and nothing else.
    public init(
        rules: [Rule] = [], ports: [ClosedRange<UInt16>] = [], refusesSpecialRanges: Bool = true,
        isDryRun: Bool = false, proxiedNames: ProxiedNames = .allow
    ) {
        self.rules = rules
        self.ports = ports
        self.refusesSpecialRanges = refusesSpecialRanges
        self.isDryRun = isDryRun
        self.proxiedNames = proxiedNames
    }

    /// Judges a connection to the address and port by the rules alone. A dry run makes no difference.
    public func verdict(for address: IPAddress, port: UInt16) -> Verdict {
        let own = ownRule(for: address, port: port)
        let special = refusesSpecialRanges ? Self.specialRange(of: address) : nil
        if let special, special.range.prefixLength > own?.range.prefixLength ?? -1 {
            return .refused(rule: special.name)
        }
        if let own, !own.allows { return .refused(rule: own.name) }
        for inner in address.embedded {
            if case .refused(let rule) = verdict(for: inner, port: port) { return .refused(rule: rule) }
        }
        let isOpenPort = ports.isEmpty || ports.contains { $0.contains(port) } || own?.ports != nil
        return isOpenPort ? .allowed(rule: own?.name) : .refused(rule: Self.closedPort)
    }

    /// All that the guard is made of. Equal guards have equal texts: the order of rules counts in both.
    var text: String {
        let ports = ports.map { "\($0.lowerBound)-\($0.upperBound)" }
        let parts = [
            refusesSpecialRanges ? "special" : "", isDryRun ? "dry run" : "", proxiedNames == .refuse ? "no names" : "",
            "ports \(ports.joined(separator: " "))",
        ]
        return (parts + rules.map(\.name)).joined(separator: "\n")
    }

    static let closedPort = "port"
    static let unreadable = "unreadable address"
    static let proxiedName = "proxied name"

    /// Judges the host of a URL for which a proxy is asked. `host`: an IPv4 address as four decimal numbers, an IPv6
    /// address in brackets; empty: it cannot be read. `isBypassed`: the host is reached without the proxy, so a name is
    /// looked up, and judged, by the engine.
    func verdict(forProxied host: String, port: UInt16, isBypassed: Bool) -> Verdict {
        if host.isEmpty { return .refused(rule: Self.unreadable) }
        if host.hasPrefix("[") {
            // A zone (RFC 6874) is no part of the address.
            let literal = host.dropFirst().prefix { $0 != "]" && $0 != "%" }
            guard let address = IPAddress(String(literal)) else { return .refused(rule: Self.unreadable) }
            return verdict(for: address, port: port)
        }
        if let address = IPAddress(host) { return verdict(for: address, port: port) }
        return proxiedNames == .allow || isBypassed ? .allowed(rule: nil) : .refused(rule: Self.proxiedName)
    }

    /// Judges a connection to a `sockaddr_in` or `sockaddr_in6`. Refuses every other kind of address, such as a Unix
    /// socket.
    public func verdict(forSocketAddress bytes: UnsafeRawBufferPointer) -> Verdict {
        guard let (address, port) = IPAddress.read(socketAddress: bytes) else {
            return .refused(rule: Self.unreadable)
        }
        return verdict(for: address, port: port)
    }

    /// The rule with the longest prefix; among rules of equal length one that denies.
    private func ownRule(for address: IPAddress, port: UInt16) -> Rule? {
        var best: Rule?
        for rule in rules where rule.range.contains(address) && rule.ports?.contains(port) ?? true {
            if let best {
                let isLonger = rule.range.prefixLength > best.range.prefixLength
                let isStricter = rule.range.prefixLength == best.range.prefixLength && !rule.allows && best.allows
                guard isLonger || isStricter else { continue }
            }
            best = rule
        }
        return best
    }
}
