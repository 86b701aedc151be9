/// The change of a URL by RFC 6797 8.3.
enum HSTSUpgrade {
    /// The https form of an http URL to a host that is known; `nil` for every other URL.
    static func upgraded(_ url: String, isKnown: (String) -> Bool) -> String? {
        var reference = URLReference(url)
        guard reference.scheme?.lowercased() == "http", let authority = reference.authority else { return nil }
        var start = authority.startIndex
        if let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) { start = authority.utf8.index(after: at) }
        let place = authority[start...]
        // An IPv6 literal has no policy.
        guard !place.hasPrefix("[") else { return nil }
        let colon = place.utf8.firstIndex(of: UInt8(ascii: ":"))
        guard let host = decoded(place[..<(colon ?? place.endIndex)]), isKnown(host) else { return nil }
        reference.scheme = "https"
        if let colon {
            let port = place[place.utf8.index(after: colon)...]
            if !port.isEmpty, port.utf8.drop(while: { $0 == 0x30 }).elementsEqual("80".utf8) {
                reference.authority = authority[...colon] + "443"
            }
        }
        return reference.text
    }

    /// The host without percent-encoding, as it will be looked up: an international name in its ASCII form. `nil` where
    /// the encoding is broken, or the text is no host name.
    private static func decoded(_ host: Substring) -> String? {
        guard let name = withoutEscapes(host) else { return nil }
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name }
        return try? HostName.ascii(name)
    }

    private static func withoutEscapes(_ host: Substring) -> String? {
        guard host.utf8.contains(UInt8(ascii: "%")) else { return String(host) }
        var bytes: [UInt8] = []
        var rest = host.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let first = rest.popFirst(), first != UInt8(ascii: "+"), let second = rest.popFirst(),
                let value = UInt8(String(decoding: [first, second], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
