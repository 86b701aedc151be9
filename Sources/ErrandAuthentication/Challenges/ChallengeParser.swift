/// Parses `WWW-Authenticate` and `Proxy-Authenticate` (RFC 9110 11.6.1): a list of challenges whose parameters are
/// separated by commas too. Some servers send malformed fields: unreadable text is skipped up to the next comma.
struct ChallengeParser {
    typealias Offer = AuthenticationChallenge.Offer

    private let bytes: [UInt8]
    private var position = 0

    private init(_ value: String) {
        bytes = Array(value.utf8)
    }

    /// The challenges of one field, in order.
    static func offers(in value: String) -> [Offer] {
        var parser = ChallengeParser(value)
        return parser.offers()
    }

    private mutating func offers() -> [Offer] {
        var offers: [Offer] = []
        while true {
            skip { Self.isBlank($0) || $0 == Self.comma }
            guard position < bytes.count else { return offers }
            if let scheme = token() {
                offers.append(offer(scheme.lowercased()))
            } else {
                skipToComma()
            }
        }
    }

    /// Reads what follows a scheme: a token68, or parameters up to the end or the next scheme.
    private mutating func offer(_ scheme: String) -> Offer {
        let afterScheme = position
        skip(Self.isBlank)
        if position > afterScheme, let token = token68() {
            return Offer(scheme: scheme, token: token)
        }
        var parameters: [String: String] = [:]
        while true {
            skip { Self.isBlank($0) || $0 == Self.comma }
            let start = position
            guard let name = token() else {
                // A stray quote or sign, which valid parameters may follow; or the end.
                guard position < bytes.count else { break }
                skipToComma()
                continue
            }
            skip(Self.isBlank)
            guard position < bytes.count, bytes[position] == Self.equals else {
                // No parameter: the next scheme.
                position = start
                break
            }
            position += 1
            skip(Self.isBlank)
            guard let value = parameterValue() else { continue }
            // RFC 9110 11.2: each name once. The first value counts, so that a later one cannot override it.
            if parameters[name.lowercased()] == nil { parameters[name.lowercased()] = value }
        }
        return Offer(scheme: scheme, parameters: parameters)
    }

    /// RFC 9110 11.2: letters, digits, `-._~+/`, then `=`s, up to a comma or the end; otherwise it is the start of a
    /// parameter. Does not change the position where there is none.
    private mutating func token68() -> String? {
        let start = position
        skip(Self.isToken68)
        guard position > start else { return nil }
        skip { $0 == Self.equals }
        let end = position
        skip(Self.isBlank)
        guard position == bytes.count || bytes[position] == Self.comma else {
            position = start
            return nil
        }
        return text(start..<end)
    }

    private mutating func token() -> String? {
        let start = position
        skip(Self.isTokenCharacter)
        return position > start ? text(start..<position) : nil
    }

    /// A token or a quoted string; `nil` with an unchanged position where there is neither.
    private mutating func parameterValue() -> String? {
        guard position < bytes.count, bytes[position] == Self.quote else { return token() }
        position += 1
        var value: [UInt8] = []
        while position < bytes.count, bytes[position] != Self.quote {
            // RFC 9110 5.6.4: a backslash escapes the next character.
            if bytes[position] == Self.backslash, position + 1 < bytes.count { position += 1 }
            value.append(bytes[position])
            position += 1
        }
        guard position < bytes.count else {
            // The string has no closing quote, so its end is unknown.
            return nil
        }
        position += 1
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func skipToComma() {
        skip { $0 != Self.comma }
    }

    private mutating func skip(_ matches: (UInt8) -> Bool) {
        while position < bytes.count, matches(bytes[position]) { position += 1 }
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    private static let comma = UInt8(ascii: ",")
    private static let equals = UInt8(ascii: "=")
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    /// RFC 9110 5.6.2.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    private static func isToken68(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "-._~+/".utf8.contains(byte)
    }
}
