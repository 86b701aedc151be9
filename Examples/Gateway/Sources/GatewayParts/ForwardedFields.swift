import HTTPTypes

extension HTTPFields {
    /// The fields that belong to one connection (RFC 9110 7.6.1, 11.7) and are never passed on.
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
        "transfer-encoding", "upgrade",
    ]
    /// The fields that the client writes itself.
    private static let own: Set<String> = ["content-length", "expect", "host"]
    private static let forwarded: Set<String> = [
        "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
    ]
    private static let forwardedField = HTTPField.Name("Forwarded")
    private static let forwardedFor = HTTPField.Name("X-Forwarded-For")
    private static let forwardedHost = HTTPField.Name("X-Forwarded-Host")
    private static let forwardedProto = HTTPField.Name("X-Forwarded-Proto")

    /// The fields of a caller's request for the upstream server. `trusted`: the caller is one of our proxies, so its
    /// forwarding fields stay, and the fields of this hop follow them.
    func sentUpstream(of request: HTTPRequest, from caller: String?, trusted: Bool) -> HTTPFields {
        var fields = endToEnd(without: trusted ? Self.own : Self.own.union(Self.forwarded))
        let caller = caller ?? "unknown"
        // An address with a colon, such as an IPv6 address, needs quotes (RFC 7239 6).
        let node = caller.contains(":") ? "\"[\(caller)]\"" : caller
        let host = request.authority ?? ""
        let isPlain = !host.isEmpty && !host.contains("\"") && !host.contains("\\")
        fields.add(Self.forwardedField, "for=\(node)\(isPlain ? ";host=\"\(host)\"" : "");proto=http")
        fields.add(Self.forwardedFor, caller)
        if let name = Self.forwardedHost, !host.isEmpty, !fields.contains(name) { fields.add(name, host) }
        if let name = Self.forwardedProto, !fields.contains(name) { fields.add(name, "http") }
        fields.add(.via, "1.1 gateway")
        return fields
    }

    /// The fields of an upstream answer for the caller.
    var returned: HTTPFields {
        var fields = endToEnd(without: [])
        fields.add(.via, "1.1 gateway")
        return fields
    }

    private func endToEnd(without others: Set<String>) -> HTTPFields {
        var named: Set<String> = []
        for value in self[values: .connection] {
            for name in value.split(separator: ",") { named.insert(name.filter { !$0.isWhitespace }.lowercased()) }
        }
        var kept = HTTPFields()
        kept.reserveCapacity(count + 5)
        for field in self {
            let name = field.name.canonicalName
            guard !Self.hopByHop.contains(name), !others.contains(name), !named.contains(name) else { continue }
            kept.append(field)
        }
        return kept
    }

    private mutating func add(_ name: HTTPField.Name?, _ value: String) {
        if let name { append(HTTPField(name: name, value: value)) }
    }
}
