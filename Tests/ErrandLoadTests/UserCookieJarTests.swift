import Errand
import ErrandLoad
import FoundationEssentials
import HTTPTypes
import Testing

@Suite struct UserCookieJarTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func jar(_ fields: [String], from url: String = "https://www.shop.test/a/b") -> UserCookieJar {
        let jar = UserCookieJar()
        for field in fields {
            var headers = HTTPFields()
            headers.append(HTTPField(name: .setCookie, value: field))
            jar.store(Response(statusCode: 200, headers: headers), from: url, now: now)
        }
        return jar
    }

    private func sent(_ jar: UserCookieJar, _ url: String, after seconds: Double = 0) -> String? {
        jar.field(for: url, now: now.addingTimeInterval(seconds))
    }

    @Test func hostsAndDomains() {
        let own = jar(["a=1"])
        #expect(sent(own, "https://www.shop.test/a/c") == "a=1")
        #expect(sent(own, "https://shop.test/a/c") == nil && sent(own, "https://x.www.shop.test/a/c") == nil)
        let wide = jar(["a=1; Domain=.shop.test; Path=/"])
        #expect(sent(wide, "https://shop.test/") == "a=1" && sent(wide, "https://other.shop.test:8443/x") == "a=1")
        #expect(sent(wide, "https://othershop.test/") == nil)
        #expect(jar(["a=1; Domain=other.test"]).all.isEmpty)
        #expect(jar(["a=1; Domain=test"]).all.isEmpty)
    }

    @Test func paths() {
        let deep = jar(["a=1"])
        #expect(sent(deep, "https://www.shop.test/a") == "a=1" && sent(deep, "https://www.shop.test/a/x/y") == "a=1")
        #expect(sent(deep, "https://www.shop.test/ab") == nil && sent(deep, "https://www.shop.test/") == nil)
        // Longer paths first, then older cookies.
        let both = jar(["a=1; Path=/", "b=2; Path=/a", "c=3; Path=/"])
        #expect(sent(both, "https://www.shop.test/a") == "b=2; a=1; c=3")
    }

    @Test func expiry() {
        let aged = jar(["a=1; Max-Age=10", "b=2; Expires=Tue, 14-Nov-2023 22:13:40 GMT", "c=3"])
        #expect(sent(aged, "https://www.shop.test/a", after: 5) == "a=1; b=2; c=3")
        #expect(sent(aged, "https://www.shop.test/a", after: 15) == "b=2; c=3")
        #expect(sent(aged, "https://www.shop.test/a", after: 25) == "c=3")
        #expect(jar(["a=1", "a=; Max-Age=0"]).all.isEmpty)
        #expect(sent(jar(["a=1", "a=2"]), "https://www.shop.test/a") == "a=2")
    }

    @Test func secureCookies() {
        let secure = jar(["a=1; Secure; HttpOnly; Path=/"])
        #expect(sent(secure, "http://www.shop.test/") == nil && sent(secure, "https://www.shop.test/") == "a=1")
        #expect(jar(["a=1; Secure"], from: "http://www.shop.test/").all.isEmpty)
        #expect(
            jar(["a=1; Secure"], from: "http://127.0.0.1:80/").field(for: "http://127.0.0.1:99/", now: now) == "a=1")
    }

    /// RFC 6265 5.3, step 11.3: the creation time is that of the cookie that is replaced.
    @Test func aReplacedCookieKeepsItsPlace() {
        #expect(sent(jar(["a=1; Path=/", "b=2; Path=/", "a=3; Path=/"]), "https://www.shop.test/") == "a=3; b=2")
        let again = jar(["a=1; Path=/", "b=2; Path=/", "a=; Path=/; Max-Age=0", "a=3; Path=/"])
        #expect(sent(again, "https://www.shop.test/") == "b=2; a=3")
    }

    /// RFC 6265bis 5.7: nobody between a user and a server replaces what came by TLS.
    @Test func aResponseWithoutTLSReplacesNoSecureCookie() {
        func store(_ field: String, _ url: String, in jar: UserCookieJar) {
            jar.store(Response(statusCode: 200, headers: [.setCookie: field]), from: url, now: now)
        }
        let secure = jar(["a=1; Secure; Path=/a"])
        store("a=2; Path=/a", "http://www.shop.test/a", in: secure)
        store("a=3; Path=/a/b", "http://www.shop.test/a", in: secure)
        store("a=4; Domain=shop.test; Path=/a", "http://www.shop.test/a", in: secure)
        #expect(secure.all.map(\.value) == ["1"])
        // Another path or name, and a response by TLS.
        store("a=5; Path=/ab", "http://www.shop.test/a", in: secure)
        store("b=6; Path=/a", "http://www.shop.test/a", in: secure)
        store("a=7; Path=/a", "https://www.shop.test/a", in: secure)
        #expect(secure.all.map(\.value) == ["7", "5", "6"])
    }

    @Test func malformedFieldsSetNothing() {
        #expect(jar(["", "novalue", "=1", ";", "a\u{20}"]).all.isEmpty)
        #expect(jar([String(repeating: "a", count: 5000) + "=1"]).all.isEmpty)
        #expect(jar((0..<1000).map { "c\($0)=1; Path=/" }).field(for: "https://www.shop.test/", now: now) != nil)
    }
}
