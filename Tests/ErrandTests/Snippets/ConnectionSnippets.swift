import Errand
import ErrandTesting
import Testing

/// The code of the guide "Commands" that is about clients; GuideTests compares it line by line.
@Suite struct ConnectionSnippets {
    typealias APIVersion = CommandsSnippets.APIVersion

    static func configured() -> Client.Configuration {
        var configuration = Client.Configuration(baseURL: "https://api.example.com/")
        configuration.cdnURL = "https://cdn.example.com/"
        configuration.urlFilters = [APIVersion(), QueryParameterFilter(["device": "linux"])]
        return configuration
    }

    static func pinned() -> Client {
        let pinned = ConnectionOptions(
            httpVersion: .http2OverTLS,
            tls: .init(
                caFile: "/etc/service/ca.pem", pinnedKeys: ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]),
            proxy: .url("http://proxy.internal:3128", bypass: ["localhost"]))
        let client = Client(configuration: .init(baseURL: "https://api.example.com/", connection: pinned))
        return client
    }

    static func ways() -> [ConnectionOptions] {
        let byEnvironment = ConnectionOptions(proxy: .environment)
        let byTunnel = ConnectionOptions(proxy: .url("socks5h://ada:secret@gate.internal:1080"))
        let toSocket = ConnectionOptions(unixSocketPath: "/run/docker.sock")
        let toCanary = ConnectionOptions(resolveOverrides: ["api.example.com:443:10.0.0.7"])
        return [byEnvironment, byTunnel, toSocket, toCanary]
    }

    static func compressed() -> [ConnectionOptions] {
        let gzipOnly = ConnectionOptions(encodings: .gzip)
        let uncompressed = ConnectionOptions(encodings: [])
        return [gzipOnly, uncompressed]
    }

    static func policies(_ configuration: inout Client.Configuration, currentKey: String, spareKey: String) {
        configuration.tlsPolicies = TLSPolicies(hosts: [
            "api.example.com": .init(pinnedKeys: [currentKey, spareKey]),
            "*.internal": .init(caFile: "/etc/service/internal.pem", minimumVersion: .v1_3),
        ])
    }

    static func keeping(_ configuration: inout Client.Configuration) {
        configuration.cookies = .file("/var/lib/service/cookies")
    }

    static func cookies(_ client: Client) throws {
        try client.cookies?.set(Cookie(name: "session", value: "1", domain: "api.example.com", isSecure: true))
        print(try client.cookies?.all().count ?? 0)
    }

    @Test func clients() async throws {
        var configuration = Self.configured()
        Self.policies(&configuration, currentKey: "a", spareKey: "b")
        let pinned = Client(configuration: configuration, transport: StubTransport())
        #expect(try pinned.describe(RawCommand(url: "x")).settings.connection?.tls.pinnedKeys == ["a", "b"])
        let inside = try pinned.describe(RawCommand(url: "https://a.internal/"))
        #expect(inside.settings.connection?.tls.minimumVersion == .v1_3)
        Self.keeping(&configuration)
        #expect(configuration.cookies == .file("/var/lib/service/cookies"))
        #expect(Set(Self.ways()).count == 4)
        #expect(Self.compressed().map(\.encodings) == [.gzip, []])
        await pinned.shutdown()
        await Self.pinned().shutdown()
    }

    @Test func aJar() async throws {
        var configuration = Client.Configuration()
        configuration.cookies = .memory
        configuration.loops = 1
        let client = Client(configuration: configuration)
        try Self.cookies(client)
        #expect(try client.cookies?.all().map(\.name) == ["session"])
        await client.shutdown()
    }
}
