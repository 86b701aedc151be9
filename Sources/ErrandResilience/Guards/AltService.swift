/// Another place where an origin can be reached (RFC 7838), as a response announced it.
public struct AltService: Sendable, Hashable {
    /// The protocol by its ALPN name, such as `h2` or `h3`.
    public let protocolID: String
    /// The host in lower case; empty: the host of the origin.
    public let host: String
    /// The port.
    public let port: UInt16
    /// How long the alternative may be used, in seconds (`ma`); 24 hours where the field does not say. At most 2^31.
    public let maxAge: Int64
    /// Whether the alternative stays after a change of the network (`persist=1`).
    public let persists: Bool

    /// Makes an alternative. Clamps `maxAge` to 0...2^31.
    public init(protocolID: String, host: String = "", port: UInt16, maxAge: Int64 = 86_400, persists: Bool = false) {
        self.protocolID = protocolID
        self.host = host.lowercased()
        self.port = port
        self.maxAge = maxAge.clamped(0...1 << 31)
        self.persists = persists
    }

    /// The value of an `Alt-Svc` field.
    public enum Field: Sendable, Hashable {
        /// `clear`: the alternatives that are known are not valid any more.
        case clear
        /// The alternatives in the order of the server's preference. They replace those that are known.
        case services([AltService])

        /// The most alternatives that are read; further ones are ignored.
        static let capacity = 16

        /// Reads the values of a field. Returns `nil`, which leaves known alternatives as they are, if the grammar is
        /// violated (RFC 7838 3) or there is no alternative. Unknown parameters are ignored.
        public init?(_ values: [String]) {
            let text = values.joined(separator: ",")
            if FieldTokens.trimmed(text[...]) == "clear" {
                self = .clear
                return
            }
            var scanner = FieldScanner(text)
            var services: [AltService] = []
            while true {
                scanner.skipBlanks(and: ",")
                if scanner.isAtEnd { break }
                guard let service = AltService(&scanner), scanner.isAtEnd || scanner.isNext(",") else { return nil }
                if services.count < Self.capacity { services.append(service) }
            }
            guard !services.isEmpty else { return nil }
            self = .services(services)
        }
    }

    private init?(_ scanner: inout FieldScanner) {
        guard let name = scanner.token(), let protocolID = Self.decoded(name), scanner.take("="),
            let authority = scanner.quoted(), authority.isClosed, let (host, port) = Self.parts(authority.text)
        else { return nil }
        var maxAge: Int64 = 86_400
        var persists = false
        scanner.skipBlanks()
        while scanner.take(";") {
            scanner.skipBlanks()
            guard let name = scanner.token()?.lowercased(), scanner.take("="),
                let value = scanner.token() ?? scanner.quoted().flatMap({ $0.isClosed ? $0.text : nil })
            else { return nil }
            switch name {
            case "ma":
                guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
                maxAge = Int64(value) ?? .max
            case "persist": persists = value == "1"
            default: break
            }
            scanner.skipBlanks()
        }
        self.init(protocolID: protocolID, host: host, port: port, maxAge: maxAge, persists: persists)
    }

    /// The ALPN name of a token with percent-encoding. `nil` where the encoding is broken, and for names that are no
    /// printable ASCII.
    private static func decoded(_ name: String) -> String? {
        var bytes: [UInt8] = []
        var rest = name.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let first = rest.popFirst(), first != UInt8(ascii: "+"), first != UInt8(ascii: "-"),
                let second = rest.popFirst(),
                let value = UInt8(String(decoding: [first, second], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
        }
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `host:port` or `:port`; an IPv6 address is in brackets.
    private static func parts(_ authority: String) -> (host: String, port: UInt16)? {
        guard let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let host = authority[..<colon]
        let digits = authority[authority.utf8.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(digits), port > 0
        else { return nil }
        if host.isEmpty { return ("", port) }
        if host.hasPrefix("[") {
            guard host.hasSuffix("]"), IPAddress(String(host.dropFirst().dropLast()))?.family == .v6 else { return nil }
            return (String(host), port)
        }
        let isName = host.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
            default: false
            }
        }
        return isName && host.utf8.count <= 255 ? (String(host), port) : nil
    }
}
