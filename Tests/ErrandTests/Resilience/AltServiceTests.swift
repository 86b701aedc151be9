import ErrandTesting
import Testing

@testable import ErrandResilience

@Suite struct AltServiceTests {
    private func words(_ values: String...) -> String? {
        switch AltService.Field(values) {
        case nil: return nil
        case .clear?: return "clear"
        case .services(let services)?:
            return services.map { service in
                let place = "\(service.protocolID) \(service.host):\(service.port)"
                return place + " \(service.maxAge)" + (service.persists ? " persists" : "")
            }.joined(separator: ", ")
        }
    }

    @Test func fields() {
        #expect(words("h2=\":443\"") == "h2 :443 86400")
        #expect(words("h3=\":443\"; ma=60; persist=1") == "h3 :443 60 persists")
        #expect(words("h3=\"Alt.Test:8443\";ma=60, h2=\":443\"") == "h3 alt.test:8443 60, h2 :443 86400")
        #expect(words("h3=\":1\"", "h2=\":2\"") == "h3 :1 86400, h2 :2 86400")
        #expect(words("h2=\"[::1]:443\"") == "h2 [::1]:443 86400")
        #expect(words("w%3Dx%3Ay#z=\":443\"") == "w=x:y#z :443 86400")
        #expect(words("h2=\":443\"; ma=99999999999999999999") == "h2 :443 2147483648")
        #expect(words("h2=\":443\"; persist=2; other=\"a,b;c\"") == "h2 :443 86400")
        #expect(words(" clear ") == "clear")
        #expect(words(", h2=\":443\" ,") == "h2 :443 86400")
    }

    @Test(arguments: [
        "", ",", "h2", "h2=", "h2=:443", "h2=\"443\"", "h2=\":\"", "h2=\":0\"", "h2=\":65536\"", "h2=\":+443\"",
        "h2=\":443",
        "h2=\":443\" x", "h2=\":443\"; ma", "h2=\":443\"; ma=", "h2=\":443\"; ma=-1", "h2=\":443\";", "%zz=\":443\"",
        "%0a=\":443\"", "%4=\":443\"", "h2=\"a b:443\"", "h2=\"::1:443\"", "h2=\"[1]:443\"", "h2=\"[::1:443\"",
        "clear, h2",
        "Clear", "h2=\"a/b:443\"", "h2=\"u@a:443\"", "h2=\":443\"; ma=\"1", "=\":443\"",
    ])
    func malformed(_ value: String) {
        #expect(words(value) == nil)
    }

    @Test func aFieldReplacesTheFormerOne() {
        let clock = ManualClock()
        let cache = AltServiceCache(clock: clock)
        let names = { cache.services(of: "https://a:443").map(\.protocolID) }
        cache.learn(["h3=\":443\""], from: "https://a:443", overFaultlessTLS: false)
        #expect(cache.count == 0)
        cache.learn(
            ["h3=\":443\"; ma=60, h2=\":443\"; ma=90; persist=1"], from: "https://a:443", overFaultlessTLS: true)
        #expect(names() == ["h3", "h2"])
        cache.learn(["broken"], from: "https://a:443", overFaultlessTLS: true)
        clock.advance(by: .seconds(60))
        #expect(names() == ["h2"])
        cache.networkChanged()
        #expect(names() == ["h2"])
        cache.learn(["h3=\":443\"; ma=60"], from: "https://a:443", age: 50, overFaultlessTLS: true)
        #expect(names() == ["h3"])
        clock.advance(by: .seconds(10))
        #expect(names() == [])
        cache.learn(["h3=\":443\"; ma=60"], from: "https://a:443", age: 60, overFaultlessTLS: true)
        #expect(cache.count == 0)
        cache.learn(["h3=\":443\""], from: "https://a:443", overFaultlessTLS: true)
        cache.networkChanged()
        #expect(cache.count == 0)
        cache.learn(["h3=\":443\""], from: "https://a:443", overFaultlessTLS: true)
        cache.learn(["clear"], from: "https://a:443", overFaultlessTLS: true)
        #expect(cache.count == 0)
    }

    @Test func aBrokenAlternative() throws {
        let clock = ManualClock()
        let cache = AltServiceCache(clock: clock)
        let names = { cache.services(of: "o").map(\.protocolID) }
        cache.learn(["h3=\":443\", h2=\":443\""], from: "o", overFaultlessTLS: true)
        let first = try #require(cache.services(of: "o").first)
        cache.markBroken(first, of: "o", for: .seconds(10))
        cache.markBroken(first, of: "unknown")
        #expect(names() == ["h2"])
        // The server announces it again.
        cache.learn(["h3=\":443\"; ma=99"], from: "o", overFaultlessTLS: true)
        #expect(names() == [])
        clock.advance(by: .seconds(10))
        #expect(names() == ["h3"])
    }

    @Test func aFullCache() {
        let clock = ManualClock()
        let cache = AltServiceCache(capacity: 8, clock: clock)
        for index in 0..<8 {
            cache.learn(["h2=\":443\"; ma=\(100 + index)"], from: "\(index)", overFaultlessTLS: true)
        }
        cache.learn(["h2=\":443\"; ma=500"], from: "new", overFaultlessTLS: true)
        #expect(cache.count == 8)
        #expect(cache.services(of: "0").isEmpty && !cache.services(of: "1").isEmpty)
        clock.advance(by: .seconds(200))
        cache.learn(["h2=\":443\""], from: "later", overFaultlessTLS: true)
        #expect(cache.count == 2)
        let long = (0..<40).map { "h2=\":\(1 + $0)\"" }.joined(separator: ",")
        cache.learn([long], from: "later", overFaultlessTLS: true)
        #expect(cache.services(of: "later").count == 16)
    }
}
