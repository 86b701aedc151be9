import Errand
import ErrandTesting
import Testing

@testable import ErrandClient
@testable import ErrandEngine
@testable import ErrandResilience

/// ``AddressGuard`` and the hosts that a proxy is asked for.
@Suite struct ProxiedHostTests {
    private static let proxied = ConnectionOptions(
        proxy: .url("http://proxy:3128", bypass: ["inside.test", "10.0.0.0/8"]))

    /// The message of the refusal; `nil`: none.
    private func refusal(
        _ url: String, _ subject: AddressGuard = AddressGuard(), _ options: ConnectionOptions = proxied,
        _ environment: ProxyEnvironment = ProxyEnvironment()
    ) throws -> String? {
        let judge = ProxiedHostJudge(
            filter: AddressGuardFilter(subject), connection: options, environment: environment)
        var description = try ResilientFixture.description()
        description.url = url
        do throws(ErrandError) {
            try judge.check(description)
            return nil
        } catch {
            #expect(error == .addressRefused && error.isRefusal)
            return error.message
        }
    }

    @Test(
        arguments: [
            ("http://169.254.169.254/latest", "169.254.169.254:80 (metadata)"),
            ("https://169.254.169.254/", "169.254.169.254:443 (metadata)"),
            ("http://2852039166/", "169.254.169.254:80 (metadata)"),
            ("http://0xa9fea9fe:8080/", "169.254.169.254:8080 (metadata)"),
            ("http://0251.0376.0251.0376/", "169.254.169.254:80 (metadata)"),
            ("http://127.1/", "127.0.0.1:80 (loopback)"), ("http://0x7f.1./", "127.0.0.1:80 (loopback)"),
            ("http://%31%32%37.0.0.1/", "127.0.0.1:80 (loopback)"),
            ("http://u:p@127.0.0.1/", "127.0.0.1:80 (loopback)"), ("http://[::1]:81/", "[::1]:81 (loopback)"),
            ("http://[::ffff:169.254.169.254]/", "[::ffff:169.254.169.254]:80 (IPv4-mapped)"),
            ("http://[fd00:ec2::254]/", "[fd00:ec2::254]:80 (metadata)"), ("http://10.1.2.3/", "10.1.2.3:80 (private)"),
        ])
    func addressesAreJudged(url: String, place: String) throws {
        #expect(try refusal(url) == "the address filter refused to ask the proxy for \(place)")
        // Without a proxy the engine's sockets are judged.
        #expect(try refusal(url, AddressGuard(), ConnectionOptions()) == nil)
        #expect(try refusal(url, AddressGuard(isDryRun: true)) == nil)
    }

    /// A zone is no part of the address.
    @Test func zones() {
        let subject = AddressGuard()
        for host in ["[fe80::1%25eth0]", "[fe80::1%eth0]", "[fe80::1]"] {
            #expect(subject.verdict(forProxied: host, port: 80, isBypassed: false) == .refused(rule: "link-local"))
        }
    }

    @Test func rulesAndPortsAreTheSame() throws {
        let open = AddressGuard(rules: [try .allow("10.1.0.0/16", ports: 8080...8080)], ports: [443...443])
        #expect(try refusal("http://10.1.2.3:8080/", open) == nil)
        #expect(try refusal("http://10.1.2.3/", open)?.hasSuffix("(private)") == true)
        #expect(try refusal("https://8.8.8.8/", open) == nil)
        #expect(try refusal("http://8.8.8.8/", open)?.hasSuffix("(port)") == true)
    }

    @Test func namesAreTheProxysTask() throws {
        let strict = AddressGuard(proxiedNames: .refuse)
        #expect(try refusal("http://example.com/") == nil)
        #expect(
            try refusal("http://example.com/", strict)
                == "the address filter refused to ask the proxy for example.com:80 (proxied name)")
        // Reached without the proxy.
        for host in ["inside.test", "a.inside.test"] { #expect(try refusal("http://\(host)/", strict) == nil) }
        #expect(try refusal("http://example.com/", strict, ConnectionOptions()) == nil)
        #expect(try refusal("https://8.8.8.8/", strict) == nil)
        let socket = ConnectionOptions(proxy: .url("http://proxy:3128"), unixSocketPath: "/run/socket")
        #expect(try refusal("http://127.0.0.1/", strict, socket) == nil)
    }

    /// A name by another spelling is the same name.
    @Test func theBypassListIsAskedForTheJudgedHost() throws {
        let strict = AddressGuard(proxiedNames: .refuse)
        for host in ["%69nside.test", "INSIDE.test", "u:p@inside.test.", "a.%69nside.test:81"] {
            #expect(try refusal("http://\(host)/", strict) == nil)
        }
        #expect(try refusal("http://inside.test%2eevil.test/", strict) != nil)
    }

    @Test(
        arguments: [
            "http://127.0.0.1:8x/", "http://127.0.0.1:99999/", "http://a:b:80/", "http://[::1/", "http://[::1]80/",
            "http://a%20b/", "http:///",
        ])
    func whatCannotBeReadIsRefused(url: String) throws {
        let message = "the address filter refused to ask the proxy for a host that cannot be read (unreadable address)"
        #expect(try refusal(url) == message)
        #expect(try refusal(url, AddressGuard(isDryRun: true)) == nil)
    }

    /// The engine reads the environment when it makes its options, so addresses are judged whatever was read here.
    @Test func theEnvironment() throws {
        let options = ConnectionOptions(proxy: .environment)
        let clear = ProxyEnvironment(proxy: "proxy:3128")
        let secure = ProxyEnvironment(secureProxy: "proxy:3128")
        for environment in [clear, secure, ProxyEnvironment()] {
            for url in ["http://127.0.0.1/", "https://127.0.0.1/"] {
                #expect(try refusal(url, AddressGuard(), options, environment)?.hasSuffix("(loopback)") == true)
            }
        }
        let message = "the address filter refused 127.0.0.1:80 (loopback)"
        #expect(try refusal("http://127.0.0.1/", AddressGuard(), options) == message)
        // Each scheme has a proxy of its own.
        let strict = AddressGuard(proxiedNames: .refuse)
        for (environment, isClear, isSecure) in [(clear, true, false), (secure, false, true)] {
            let ofHTTP = try refusal("http://a.test/", strict, options, environment)
            let ofHTTPS = try refusal("https://a.test/", strict, options, environment)
            #expect((ofHTTP != nil) == isClear && (ofHTTPS != nil) == isSecure)
        }
        // In a dry run the socket counts.
        let filter = AddressGuardFilter(AddressGuard(isDryRun: true))
        let judge = ProxiedHostJudge(filter: filter, connection: options, environment: ProxyEnvironment())
        try judge.check(ResilientFixture.description(url: "http://127.0.0.1/"))
        #expect(filter.counts.byRule.isEmpty)
    }

    /// A dry run counts what it would have refused; an address of the bypass list counts at its socket.
    @Test func refusalsAreCounted() {
        for isDryRun in [true, false] {
            let filter = AddressGuardFilter(AddressGuard(isDryRun: isDryRun, proxiedNames: .refuse))
            #expect((filter.refusal(ofProxied: "127.0.0.1", port: 80, isBypassed: false) == nil) == isDryRun)
            #expect((filter.refusal(ofProxied: "a.test", port: 80, isBypassed: false) == nil) == isDryRun)
            #expect(filter.refusal(ofProxied: "a.test", port: 80, isBypassed: true) == nil)
            #expect((filter.refusal(ofProxied: "10.0.0.1", port: 80, isBypassed: true) == nil) == isDryRun)
            #expect((filter.refusal(ofProxied: "[v1.x]", port: 80, isBypassed: false) == nil) == isDryRun)
            let atTheSocket: [String: Int] = isDryRun ? [:] : ["private": 1]
            let others = ["loopback": 1, "proxied name": 1, "unreadable address": 1]
            #expect(filter.counts.byRule == others.merging(atTheSocket) { $1 })
        }
    }
}
