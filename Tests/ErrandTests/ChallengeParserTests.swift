import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandAuthentication

@Suite struct ChallengeParserTests {
    private typealias Offer = AuthenticationChallenge.Offer

    private static let basic = Offer(scheme: "basic", parameters: ["realm": "simple"])

    private static let table: [(String, [Offer])] = [
        // RFC 9110 11.6.1.
        (
            "Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"",
            [
                basic,
                Offer(
                    scheme: "newauth", parameters: ["realm": "apps", "type": "1", "title": "Login to \"apps\""]),
            ]
        ),
        (
            "Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"",
            [
                Offer(
                    scheme: "newauth", parameters: ["realm": "apps", "type": "1", "title": "Login to \"apps\""]),
                basic,
            ]
        ),
        // RFC 7616 3.9.1.
        (
            """
            Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, \
            nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
            """,
            [
                Offer(
                    scheme: "digest",
                    parameters: [
                        "realm": "http-auth@example.org", "qop": "auth, auth-int", "algorithm": "SHA-256",
                        "nonce": "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
                        "opaque": "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
                    ])
            ]
        ),
        // RFC 7617 2.1 and RFC 6750 3.
        (
            "Basic realm=\"foo\", charset=\"UTF-8\"",
            [Offer(scheme: "basic", parameters: ["realm": "foo", "charset": "UTF-8"])]
        ),
        (
            "Bearer realm=\"example\", error=\"invalid_token\", error_description=\"The access token expired\"",
            [
                Offer(
                    scheme: "bearer",
                    parameters: [
                        "realm": "example", "error": "invalid_token", "error_description": "The access token expired",
                    ])
            ]
        ),
        // Schemes alone, and with a token68.
        ("Negotiate", [Offer(scheme: "negotiate")]),
        ("Negotiate, NTLM", [Offer(scheme: "negotiate"), Offer(scheme: "ntlm")]),
        ("Negotiate a8+/-._~==", [Offer(scheme: "negotiate", token: "a8+/-._~==")]),
        ("Negotiate YWJj , Basic realm=\"simple\"", [Offer(scheme: "negotiate", token: "YWJj"), basic]),
        ("Negotiate, Basic realm=\"simple\"", [Offer(scheme: "negotiate"), basic]),
        // Empty elements, blanks around "=", tokens for values, letters of either case.
        (",, ,Basic , realm = \"simple\" ,,", [basic]),
        ("BASIC REALM=simple", [basic]),
        ("Basic\trealm\t=\tsimple", [basic]),
        ("Basic realm=\"\"", [Offer(scheme: "basic", parameters: ["realm": ""])]),
        ("Basic realm=\"a, b=c, Digest x=y\"", [Offer(scheme: "basic", parameters: ["realm": "a, b=c, Digest x=y"])]),
        ("Basic realm=\"Zoë 漢\"", [Offer(scheme: "basic", parameters: ["realm": "Zoë 漢"])]),
        // What servers should not send.
        ("", []), (" , ,", []), ("\"", []), ("=x, Basic realm=simple", [basic]),
        ("Basic realm=simple, realm=other", [basic]),
        ("Basic realm=simple charset=x", [Offer(scheme: "basic", parameters: ["realm": "simple", "charset": "x"])]),
        ("Basic realm=\"open", [Offer(scheme: "basic")]),
        ("Basic realm=\"open\\", [Offer(scheme: "basic")]),
        ("Basic a=1, realm=", [Offer(scheme: "basic", parameters: ["a": "1"])]),
        ("Basic a=1, (), realm=simple", [Offer(scheme: "basic", parameters: ["a": "1", "realm": "simple"])]),
    ]

    @Test(arguments: table.indices)
    func fields(row: Int) {
        let (value, expected) = Self.table[row]
        #expect(ChallengeParser.offers(in: value) == expected, "\(value)")
    }

    /// Whatever was written down is read back, in any notation.
    @Test func writtenOffersAreReadBack() {
        var random = SeededGenerator(seed: 68)
        for _ in 0..<3000 {
            let offers = (0..<Int.random(in: 1...4, using: &random)).map { _ in Self.offer(&random) }
            let text = offers.map { Self.text($0, &random) }.joined(
                separator: [",", ", ", " ,\t, "].randomElement(using: &random) ?? ",")
            #expect(ChallengeParser.offers(in: text) == offers, "\(text)")
        }
    }

    /// It ends, in time that grows with the length alone, and makes no more of a field than there is in it.
    @Test func garbageIsBorne() {
        var random = SeededGenerator(seed: 407)
        let pieces = [
            "Basic", " ", "=", "==", "\"", "\\", ",", "realm", "a=b", "\t", "(", "é", "\u{0}", "Digest x=\"", "\r\n",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...24, using: &random))
                .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            let offers = ChallengeParser.offers(in: text)
            let read = offers.reduce(0) { sum, offer in
                sum + offer.scheme.utf8.count + (offer.token?.utf8.count ?? 0)
                    + offer.parameters.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
            }
            #expect(read <= text.utf8.count, "\(text.debugDescription)")
            #expect(offers.allSatisfy { !$0.scheme.isEmpty && $0.scheme == $0.scheme.lowercased() })
        }
        let long = String(repeating: "Basic a=\"b\", c, ", count: 6000)
        #expect(ChallengeParser.offers(in: long).count == 12_000)
        #expect(ChallengeParser.offers(in: String(repeating: "\"", count: 100_000)).isEmpty)
    }

    @Test func theStrongestComesFirst() {
        var headers = HTTPFields()
        for value in ["NTLM", "Basic realm=a, Digest realm=b, algorithm=SHA-256", "Bearer, Digest realm=c"] {
            headers.append(HTTPField(name: .wwwAuthenticate, value: value))
        }
        headers[.proxyAuthenticate] = "Basic realm=p"
        let challenge = AuthenticationChallenge(
            Response(statusCode: 401, headers: headers), url: "http://a/", attempt: 2)
        #expect(challenge.offers.map(\.scheme) == ["digest", "digest", "bearer", "basic", "ntlm"])
        #expect(challenge.scheme == "digest")
        #expect(challenge.realm == "b")
        #expect(challenge.parameters == ["realm": "b", "algorithm": "SHA-256"])
        #expect(!challenge.isProxy)
        #expect(challenge.attempt == 2)

        let proxy = AuthenticationChallenge(Response(statusCode: 407, headers: headers), url: "http://a/")
        #expect(proxy.isProxy)
        #expect(proxy.realm == "p")

        let silent = AuthenticationChallenge(Response(statusCode: 401), url: "http://a/")
        #expect(silent.offers.isEmpty)
        #expect(silent.scheme == nil)
        #expect(silent.realm == nil)
    }

    private static func word(_ random: inout SeededGenerator, _ letters: String) -> String {
        String((0..<Int.random(in: 1...6, using: &random)).compactMap { _ in letters.randomElement(using: &random) })
    }

    private static func offer(_ random: inout SeededGenerator) -> Offer {
        let scheme = word(&random, "abcdefghij0123-_")
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return Offer(scheme: scheme)
        case 1:
            return Offer(
                scheme: scheme,
                token: word(&random, "abXY01-._~+/") + ["", "=", "=="][Int.random(in: 0..<3, using: &random)])
        default:
            let count = Int.random(in: 1...4, using: &random)
            let names = (0..<count).map { "\(word(&random, "klmnop"))\($0)" }
            let pairs = names.map {
                ($0, Int.random(in: 0..<5, using: &random) == 0 ? "" : word(&random, "qr \"\\,=éT\t"))
            }
            return Offer(scheme: scheme, parameters: Dictionary(uniqueKeysWithValues: pairs))
        }
    }

    private static func text(_ offer: Offer, _ random: inout SeededGenerator) -> String {
        let scheme = Bool.random(using: &random) ? offer.scheme : offer.scheme.uppercased()
        if let token = offer.token { return "\(scheme) \(token)" }
        let pairs = offer.parameters.map { name, value in
            let isToken = !value.isEmpty && value.utf8.allSatisfy { "qrT".utf8.contains($0) }
            let quoted =
                isToken && Bool.random(using: &random)
                ? value : "\"" + value.map { "\"\\".contains($0) ? "\\\($0)" : "\($0)" }.joined() + "\""
            return name + (["=", " = ", "\t="].randomElement(using: &random) ?? "=") + quoted
        }
        return ([scheme + " " + (pairs.first ?? "")] + pairs.dropFirst()).joined(separator: ", ")
    }
}
