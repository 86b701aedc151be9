/// Judges the hosts that a proxy is asked to reach. The engine's sockets see the proxy's address alone, so an address in
/// the URL itself is judged here, before the request is submitted.
struct ProxiedHostJudge: Sendable {
    let filter: any AddressFilter
    /// The options of transfers that have none of their own.
    let connection: ConnectionOptions
    var environment = ProxyEnvironment.present

    /// Throws ``ErrandError/addressRefused`` where a proxy must not be asked for the host of the request's URL, and where
    /// the host cannot be read.
    func check(_ description: RequestDescription) throws(ErrandError) {
        let settings = description.settings
        let options = settings.hasConnection ? settings.connection ?? connection : connection
        let url = URLReference(description.url)
        let isSecure = url.scheme?.lowercased() == "https"
        // Alternative services, which have another place, use no proxy.
        guard let way = way(of: options, isSecure: isSecure) else { return }
        let place = Place(of: url, isSecure: isSecure)
        let isBypassed = !way.isKnown || place?.isAmong(way.bypass) ?? false
        let refusal = filter.refusal(ofProxied: place?.host ?? "", port: place?.port ?? 0, isBypassed: isBypassed)
        guard let refusal else { return }
        let asked = way.isKnown ? "to ask the proxy for " : ""
        let subject = place.map { "\($0.host):\($0.port)" } ?? "a host that cannot be read"
        throw ErrandError.addressRefused.with(
            message: "the address filter refused \(asked)\(subject) (\(refusal))", isRefusal: true)
    }

    private struct Way {
        /// The hosts that are reached without the proxy, in libcurl's syntax; empty: none.
        let bypass: String
        /// Whether there is a proxy. The environment may have one by the time that the engine reads it. Until then the
        /// engine's sockets judge too, and count.
        let isKnown: Bool
    }

    /// `nil`: there is no proxy.
    private func way(of options: ConnectionOptions, isSecure: Bool) -> Way? {
        if options.unixSocketPath?.value != nil { return nil }
        switch options.proxy {
        case .direct, nil: return nil
        case .url(_, let entries):
            // The engine refuses entries that cannot be read.
            return Way(bypass: (try? ProxyBypass.list(entries)) ?? "", isKnown: true)
        case .environment:
            let proxy = isSecure ? environment.secureProxy : environment.proxy
            return Way(bypass: environment.bypass ?? "", isKnown: proxy != nil)
        }
    }

    /// The host of a URL as the engine looks it up, and the port, by one reading of the bytes.
    private struct Place {
        /// In lower case and in its ASCII form; an IPv6 address in brackets.
        let host: String
        let port: UInt16

        /// `nil`: the host or the port cannot be read.
        init?(of url: URLReference, isSecure: Bool) {
            var text = url.authority ?? ""
            if let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) { text = text[text.utf8.index(after: at)...] }
            let isBracketed = text.utf8.first == UInt8(ascii: "[")
            var end = text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
            if isBracketed {
                guard let close = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
                end = text.utf8.index(after: close)
            }
            let rest = text.utf8[end...]
            let digits = rest.dropFirst()
            guard rest.isEmpty || rest.first == UInt8(ascii: ":"), digits.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            let given: UInt16? = digits.isEmpty ? (isSecure ? 443 : 80) : UInt16(String(Substring(digits)))
            var bare = url
            bare.authority = text[..<end]
            guard let port = given, let name = try? HostName.lookedUp(by: bare), !name.isEmpty else { return nil }
            // Once more: a dot at the end has hidden a notation of an IPv4 address.
            guard let host = isBracketed ? String(name) : (try? HostName.ascii(String(name))) else { return nil }
            self.host = host
            self.port = port
        }

        func isAmong(_ bypass: String) -> Bool {
            // The scheme does not matter.
            !bypass.isEmpty && ProxyTarget(origin: "http://\(host):\(port)")?.isAmong(bypass) ?? false
        }
    }
}
