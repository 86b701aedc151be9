import Errand
import Testing

@testable import ErrandEngine
@testable import ErrandModel

/// Who may have sent a 407: without a proxy that speaks HTTP it was the origin, which is not to see a proxy's password.
@Suite struct ChallengeProxyTests {
    private func passes(
        _ url: String, _ options: ConnectionOptions, _ environment: ProxyEnvironment = ProxyEnvironment()
    ) -> Bool {
        options.passesHTTPProxy(to: URLReference(url).origin, by: environment)
    }

    @Test(
        arguments: [
            ("http://p:1", true), ("HTTP://p", true), ("https://p:1", true), ("http://user:pw@p:1", true),
            ("socks5://p:1", false), ("SOCKS5://p:1", false), ("socks5h://p:1", false), ("socks4://p", false),
        ] as [(String, Bool)])
    func proxiesThatSpeakHTTP(proxy: String, speaks: Bool) {
        #expect(passes("http://a/", ConnectionOptions(proxy: .url(proxy))) == speaks)
        // Another one's environment changes nothing.
        let environment = ProxyEnvironment(proxy: "socks5://p", bypass: "*")
        #expect(passes("http://a/", ConnectionOptions(proxy: .url(proxy)), environment) == speaks)
    }

    @Test func noProxyAtAll() {
        let environment = ProxyEnvironment(proxy: "http://p", bypass: nil)
        #expect(!passes("http://a/", ConnectionOptions(), environment))
        #expect(!passes("http://a/", ConnectionOptions(proxy: .direct), environment))
        #expect(!passes("http://a/", ConnectionOptions(proxy: .url("http://p"), unixSocketPath: "/s")))
        var unset = ConnectionOptions(proxy: .url("http://p"))
        unset.unixSocketPath = .libraryDefault
        #expect(passes("http://a/", unset))
    }

    @Test(
        arguments: [
            ("internal.test", "http://internal.test/x"), ("internal.test", "http://INTERNAL.test./"),
            ("Internal.test.", "http://internal.test/"), (".internal.test", "http://user@internal.test:81/"),
            ("*.internal.test", "http://a.internal.test/"), ("x.test, internal.test", "http://internal.test"),
            ("*", "http://other.test/"), ("10.0.0.0/8", "http://10.1.2.3/"), ("127.0.0.1", "http://127.1/"),
            ("127.0.0.1/32", "http://0x7f000001:81/"), ("127.0.0.1", "http://127.0.0.1./"),
            ("::1", "http://[::1]:8080/"), ("[::1]", "http://[0:0::0:1]/"),
            // No certain reading of the host.
            ("other.test", "http://intern%61l.test/"), ("other.test", "http://[fe80::1%25eth0]/"),
            // Such a request is not sent.
            ("other.test:80", "http://internal.test/"),
        ] as [(String, String)])
    func hostsThatAreReachedWithout(entry: String, url: String) {
        #expect(!passes(url, ConnectionOptions(proxy: .url("http://p:1", bypass: [entry]))))
    }

    @Test(
        arguments: [
            ("internal.test", "http://notinternal.test/"), ("internal.test", "http://internal.test.evil/"),
            ("a.internal.test", "http://internal.test/"), ("10.0.0.0/8", "http://11.1.2.3/"),
            ("127.0.0.1", "http://127.0.0.2/"), ("::1", "http://[::2]/"), ("::1", "http://127.0.0.1/"),
            ("", "http://internal.test/"),
        ] as [(String, String)])
    func hostsThatAreReachedByIt(entry: String, url: String) {
        #expect(passes(url, ConnectionOptions(proxy: .url("http://p:1", bypass: [entry]))))
    }

    @Test func theEnvironment() {
        let options = ConnectionOptions(proxy: .environment)
        #expect(!passes("http://a/", options))
        #expect(!passes("http://a/", options, ProxyEnvironment(proxy: nil, bypass: "b")))
        for proxy in ["p:3128", "10.0.0.1:3128", "user:pw@p:1", "http://p", "https://p"] {
            #expect(passes("http://a/", options, ProxyEnvironment(proxy: proxy, bypass: nil)), "\(proxy)")
            #expect(passes("http://a/", options, ProxyEnvironment(proxy: proxy, bypass: "")), "\(proxy)")
            #expect(passes("http://a/", options, ProxyEnvironment(proxy: proxy, bypass: "b,.c")), "\(proxy)")
            #expect(!passes("http://a/", options, ProxyEnvironment(proxy: proxy, bypass: "b,a")), "\(proxy)")
            #expect(!passes("http://a/", options, ProxyEnvironment(proxy: proxy, bypass: "*")), "\(proxy)")
        }
        #expect(!passes("http://a/", options, ProxyEnvironment(proxy: "socks5://p", bypass: nil)))
    }
}
