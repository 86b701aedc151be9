/// Parses `WWW-Authenticate` and `Proxy-Authenticate` (RFC 9110 11.6.1): a list of challenges whose parameters are
/// separated by commas too. Some servers send malformed fields: unreadable text is skipped up to the next comma.
struct ChallengeParser {
    typealias Offer = AuthenticationChallenge.Offer

    private var scanner: FieldScanner

    private init(_ value: String) {
        scanner = FieldScanner(value)
    }

    /// The challenges of one field, in order.
    static func offers(in value: String) -> [Offer] {
        var parser = ChallengeParser(value)
        return parser.offers()
    }

    private mutating func offers() -> [Offer] {
        var offers: [Offer] = []
        while true {
            scanner.skipBlanks(and: ",")
            guard !scanner.isAtEnd else { return offers }
            if let scheme = scanner.token() {
                offers.append(offer(scheme.lowercased()))
            } else {
                scanner.skip(to: ",")
            }
        }
    }

    /// Reads what follows a scheme: a token68, or parameters up to the end or the next scheme.
    private mutating func offer(_ scheme: String) -> Offer {
        let afterScheme = scanner.position
        scanner.skipBlanks()
        if scanner.position > afterScheme, let token = token68() {
            return Offer(scheme: scheme, token: token)
        }
        var parameters: [String: String] = [:]
        while true {
            scanner.skipBlanks(and: ",")
            let start = scanner.position
            guard let name = scanner.token() else {
                // A stray quote or sign, which valid parameters may follow; or the end.
                guard !scanner.isAtEnd else { break }
                scanner.skip(to: ",")
                continue
            }
            scanner.skipBlanks()
            guard scanner.take("=") else {
                // No parameter: the next scheme.
                scanner.position = start
                break
            }
            scanner.skipBlanks()
            guard let value = parameterValue() else { continue }
            // RFC 9110 11.2: each name once. The first value counts, so that a later one cannot override it.
            if parameters[name.lowercased()] == nil { parameters[name.lowercased()] = value }
        }
        return Offer(scheme: scheme, parameters: parameters)
    }

    /// RFC 9110 11.2: letters, digits, `-._~+/`, then `=`s, up to a comma or the end; otherwise it is the start of a
    /// parameter. Does not change the position if there is none.
    private mutating func token68() -> String? {
        let start = scanner.position
        scanner.skip { PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
        guard scanner.position > start else { return nil }
        scanner.skip { $0 == UInt8(ascii: "=") }
        let token = scanner.text(from: start)
        scanner.skipBlanks()
        guard scanner.isAtEnd || scanner.isNext(",") else {
            scanner.position = start
            return nil
        }
        return token
    }

    /// A token or a quoted string; `nil` if there is neither, or if the string's end is unknown because it has no
    /// closing quote.
    private mutating func parameterValue() -> String? {
        guard let (text, isClosed) = scanner.quoted() else { return scanner.token() }
        return isClosed ? text : nil
    }
}
