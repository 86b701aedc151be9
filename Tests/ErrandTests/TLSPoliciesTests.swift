import Errand
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Ask: Command {
    var path: String
    var timeouts: Timeouts?
    var connection: ConnectionOptions?
}

@Suite struct TLSPoliciesTests {
    private static let exact = ConnectionOptions.TLS(pinnedKeys: ["exact", "backup"])
    private static let wild = ConnectionOptions.TLS(caFile: "/wild.pem")
    private static let deep = ConnectionOptions.TLS(caFile: "/deep.pem", clientCertificate: "/c.pem")
    private static let other = ConnectionOptions.TLS(minimumVersion: .v1_3)
    private static let own = ConnectionOptions.TLS(caFile: "/own.pem", clientCertificate: "/own-c.pem")

    private func builder(
        default fallback: ConnectionOptions.TLS? = nil, connection: ConnectionOptions = ConnectionOptions(),
        hosts: [String: ConnectionOptions.TLS]? = nil
    ) -> RequestBuilder {
        var configuration = Client.Configuration(connection: connection)
        configuration.tlsPolicies = TLSPolicies(
            default: fallback,
            hosts: hosts ?? [
                "API.example.com": Self.exact, "*.example.com": Self.wild, "*.deep.example.com.": Self.deep,
            ])
        return RequestBuilder(configuration)
    }

    private func tls(_ url: String, _ builder: RequestBuilder) throws(ErrandError) -> ConnectionOptions.TLS? {
        try builder.description(of: Ask(path: url)).settings.connection?.tls
    }

    @Test(
        arguments: [
            ("https://api.example.com/x", exact), ("https://API.Example.COM:8443", exact),
            ("https://api.example.com./", exact), ("https://u:p@api.example.com?x", exact),
            ("https://%61pi.example%2ecom/", exact), ("https://a@b@api.example.com#f", exact),
            ("https://b.example.com/", wild), ("https://x.api.example.com/", wild),
            ("https://a.deep.example.com/", deep), ("https://a.b.deep.example.com/", deep),
            ("https://deep.example.com/", wild), ("https://example.com/", nil), ("https://xexample.com/", nil),
            ("https://example.com.evil/", nil), ("https://[::1]:443/api.example.com", nil),
        ] as [(String, ConnectionOptions.TLS?)])
    func theNearestEntryDecides(url: String, expected: ConnectionOptions.TLS?) throws {
        #expect(try tls(url, builder()) == expected)
        #expect(try tls(url, builder(default: Self.other)) == expected ?? Self.other)
    }

    @Test func addressesAreHosts() throws {
        let builder = builder(hosts: ["[::1]": Self.exact, "10.0.0.1": Self.wild])
        #expect(try tls("https://[::1]:8443/", builder) == Self.exact)
        for spelling in ["10.0.0.1", "10.0.0.1.", "10.1", "0xa000001", "012.0.0.%31", "１０.1"] {
            #expect(try tls("https://\(spelling):1/", builder) == Self.wild, "\(spelling)")
        }
    }

    @Test(arguments: ["", "*", "*.", "a.*.b", "a b", "http://a", "a:443", "a/b", "ü ö.de", "*.*.a", "a\r\nb"])
    func badPatternsAreRefused(pattern: String) {
        #expect(throws: ErrandError.invalidOption) { try tls("https://h/", builder(hosts: [pattern: Self.exact])) }
    }

    /// As libcurl looks them up: none passes by its pins under another spelling.
    @Test(arguments: ["api.example.com", "ａpi.example.com", "api%E3%80%82example.com", "API。example.com"])
    func spellingsOfAPinnedHost(host: String) throws {
        #expect(try tls("https://\(host)/", builder()) == Self.exact)
    }

    @Test(arguments: [
        "bücher.example", "xn--bcher-kva.example", "BÜCHER.example", "b%C3%BCcher.example:444", "bücher.example.",
    ])
    func internationalHosts(host: String) throws {
        for pattern in ["bücher.example", "xn--bcher-kva.example", "BÜCHER.EXAMPLE."] {
            #expect(try tls("https://\(host)/", builder(hosts: [pattern: Self.exact])) == Self.exact, "\(pattern)")
            let below = builder(hosts: ["*." + pattern: Self.exact])
            #expect(try tls("https://\(host)/", below) == nil)
            #expect(try tls("https://ä.\(host)/", below) == Self.exact, "\(pattern)")
        }
    }

    @Test(arguments: ["b%FCcher.example", "%C3%28", "xn--\u{200B}ü", "ü\u{2028}.example"])
    func hostsThatCannotBeToldAreRefused(host: String) throws {
        #expect(throws: ErrandError.invalidURL) { try tls("https://\(host)/", builder()) }
    }

    @Test func settingsAreComposedOnce() throws {
        let builder = builder()
        let first = try builder.description(of: Ask(path: "https://api.example.com/1")).settings
        let second = try builder.description(of: Ask(path: "https://api.example.com/2")).settings
        #expect(first === second)
        let timed = try builder.description(of: Ask(path: "https://api.example.com/2", timeouts: .unlimited)).settings
        #expect(timed.connection == first.connection && timed.connection != nil)
    }

    @Test func whatIsTheEnginesOwnNeedsNoOptions() throws {
        let builder = builder(connection: ConnectionOptions(tls: Self.own), hosts: ["a": Self.own, "b": Self.exact])
        #expect(try builder.description(of: Ask(path: "https://a/")).settings.connection == nil)
        #expect(try builder.description(of: Ask(path: "https://c/")).settings.connection == nil)
        // What the entry does not say is the client's.
        let both = ConnectionOptions.TLS(
            caFile: "/own.pem", clientCertificate: "/own-c.pem", pinnedKeys: ["exact", "backup"])
        #expect(try tls("https://b/", builder) == both)
    }

    /// Where nobody says it, clear text is refused where keys are pinned or the host's entry names a certificate.
    @Test func whereClearTextIsRefused() throws {
        func isSent(
            _ url: String, _ entry: ConnectionOptions.TLS?, client: ConnectionOptions.TLS = .init(),
            own: ConnectionOptions? = nil
        ) throws -> Bool {
            let builder = builder(connection: ConnectionOptions(tls: client), hosts: entry.map { ["h": $0] } ?? [:])
            do throws(ErrandError) {
                _ = try builder.description(of: Ask(path: url, connection: own))
                return true
            } catch {
                guard error == .unsupportedScheme, error.message.contains("requiresTLS") else { throw error }
                return false
            }
        }
        for url in ["http://h/", "HTTP://H:80", "http://u@h?x"] {
            #expect(try !isSent(url, Self.exact), "\(url)")
            #expect(try !isSent(url, Self.deep))
            #expect(try isSent(url, Self.wild))
            #expect(try isSent(url, .init(pinnedKeys: ["k"], requiresTLS: false)))
            #expect(try !isSent(url, .init(requiresTLS: true)))
            #expect(try !isSent(url, nil, client: Self.exact))
            #expect(try isSent(url, nil, client: Self.own))
            #expect(try isSent(url, Self.wild, client: Self.own))
            #expect(try !isSent(url, Self.deep, own: ConnectionOptions(encodings: .gzip)))
            #expect(try isSent(url, .init(pinnedKeys: []), client: Self.exact))
            #expect(try !isSent(url, nil, own: ConnectionOptions(tls: Self.exact)))
            #expect(try isSent(url, Self.exact, own: ConnectionOptions(tls: .init(requiresTLS: false))))
        }
        for url in ["https://h/", "HTTPS://H", "http://other/"] { #expect(try isSent(url, Self.exact), "\(url)") }
    }

    @Test func optionsOfTheRequest() throws {
        let builder = builder()
        func tls(_ options: ConnectionOptions) throws -> ConnectionOptions? {
            try builder.description(of: Ask(path: "https://api.example.com/", connection: options)).settings.connection
        }
        #expect(
            try tls(ConnectionOptions(tls: Self.own))?.tls
                == .init(caFile: "/own.pem", clientCertificate: "/own-c.pem", pinnedKeys: ["exact", "backup"]))
        // The engine's own.
        #expect(try tls(ConnectionOptions(tls: .init(pinnedKeys: []))) == nil)
        let mixed = try tls(ConnectionOptions(httpVersion: .http1))
        #expect(mixed?.tls == Self.exact && mixed?.httpVersion == .http1)
    }

    @Test func hopsGoByTheNextHostsPolicy() throws {
        let builder = builder(connection: ConnectionOptions(tls: Self.own))
        func hop(_ from: String, _ to: String, _ options: ConnectionOptions? = nil) throws -> ConnectionOptions.TLS? {
            var next = try builder.description(of: Ask(path: from, connection: options))
            next.url = to
            return try builder.settings(forHop: next, from: from).connection?.tls
        }
        #expect(try hop("https://api.example.com/", "https://b.example.com/") == Self.wild)
        #expect(try hop("https://b.example.com/", "https://a.deep.example.com/") == Self.deep)
        #expect(try hop("https://a.deep.example.com/", "https://a.deep.example.com/2") == Self.deep)
        // Back to the client's own TLS, but to another origin: without its certificate.
        #expect(try hop("https://api.example.com/", "https://elsewhere/") == .init(caFile: "/own.pem"))
        #expect(try hop("https://here/", "https://elsewhere/") == .init(caFile: "/own.pem"))
        #expect(try hop("https://here/", "https://here/2") == nil)
        let options = ConnectionOptions(httpVersion: .http1)
        #expect(try hop("https://api.example.com/", "https://elsewhere/", options) == .init(caFile: "/own.pem"))
        let own = ConnectionOptions(tls: .init(caFile: "/r.pem"))
        #expect(
            try hop("https://here/", "https://api.example.com/", own)
                == .init(caFile: "/r.pem", pinnedKeys: ["exact", "backup"]))
        let named = ConnectionOptions(tls: .init(clientCertificate: "/r-c.pem"))
        #expect(try hop("https://here/", "https://elsewhere/", named) == .init(caFile: "/own.pem"))
        #expect(throws: ErrandError.invalidURL) { try hop("https://here/", "https://api.ex%E4mple.com/") }
        #expect(throws: ErrandError.unsupportedScheme) { try hop("https://here/", "http://api.example.com/") }
    }
}
