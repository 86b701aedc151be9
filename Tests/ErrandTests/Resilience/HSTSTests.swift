import ErrandTesting
import Testing

@testable import ErrandModel
@testable import ErrandResilience

extension HSTSTable {
    /// Reads a text; returns how many lines are bad.
    fileprivate mutating func textRead(_ text: String, now: CacheTime) -> Int {
        let lines = Lines(text)
        linesRead(lines, now: now)
        return lines.badCount
    }
}

@Suite struct HSTSTests {
    private static let start = CacheTime(seconds: 1_800_000_000)

    private func table(_ fields: [(String, String)] = []) -> HSTSTable {
        var table = HSTSTable()
        for (host, value) in fields { _ = table.fieldReceived([value], from: host, now: Self.start) }
        return table
    }

    @Test(arguments: [
        ("max-age=31536000", 31_536_000, false), ("max-age=0", 0, false), ("MAX-AGE=5", 5, false),
        ("max-age=\"31536000\"", 31_536_000, false), ("max-age=5; includeSubDomains", 5, true),
        ("includesubdomains ;max-age=5", 5, true), (" max-age = 5 ;; includeSubDomains ; ", 5, true),
        ("max-age=5; preload", 5, false), ("max-age=5; other=\"a;b\"; includeSubDomains", 5, true),
        ("max-age=5;x=y", 5, false), (";max-age=5", 5, false), ("max-age=99999999999999999999999", 1 << 31, false),
    ])
    func fields(_ value: String, _ age: Int, _ includesSubdomains: Bool) {
        #expect(HSTSPolicy(value) == HSTSPolicy(maxAge: Int64(age), includesSubdomains: includesSubdomains))
    }

    @Test(arguments: [
        "", ";", "includeSubDomains", "max-age", "max-age=", "max-age=\"\"", "max-age=-1", "max-age=+1", "max-age=1.5",
        "max-age=1 2", "max-age=1, includeSubDomains", "max-age=1; max-age=1", "max-age=1; MAX-AGE=2",
        "max-age=1; includeSubDomains; includeSubDomains", "max-age=1; includeSubDomains=1", "max-age=1; x; x=1",
        "max-age=\"1", "max-age=1 includeSubDomains", "=1; max-age=1", "max-age=1; x=", "max-age=1; x=\"a\"b",
        "max-age=٥",
        "max-age=\"5\\", "max-age=1; includeSubDomains=\"\"",
    ])
    func voidFields(_ value: String) {
        #expect(HSTSPolicy(value) == nil)
    }

    @Test func anExactHostAndSubdomains() {
        let table = table([("a.test", "max-age=60"), ("B.Test.", "max-age=60; includeSubDomains")])
        let isKnown = { (host: String) in table.isKnown(host, now: Self.start) }
        for host in ["a.test", "A.TEST", "a.test.", "b.test", "x.b.test", "x.y.b.test.", "B.TEST"] {
            #expect(isKnown(host), "\(host)")
        }
        for host in [
            "x.a.test", "test", "xb.test", "", ".", ".b.test", "b.test..", "x..b.test", "b.test:80", "b.test/",
        ] {
            #expect(!isKnown(host), "\(host)")
        }
    }

    @Test(arguments: ["127.0.0.1", "1", "a.1", "0x7f.1", "0x7f000001", "a.0x1", "::1", "[::1]", "127.0.0.1."])
    func addressesHaveNoPolicy(_ host: String) {
        var table = HSTSTable()
        #expect(table.fieldReceived(["max-age=60"], from: host, now: Self.start) == .none)
        #expect(table.learned.isEmpty)
        #expect(table.textRead("\(host) \"unlimited\"", now: Self.start) == 1)
        #expect(!table.isKnown(host, now: Self.start))
    }

    @Test func aFieldRenewsAndRemoves() {
        var table = table([("a.test", "max-age=60; includeSubDomains")])
        let later = CacheTime(seconds: 1_800_000_059)
        let end = CacheTime(seconds: 1_800_000_060)
        #expect(table.isKnown("x.a.test", now: later))
        #expect(!table.isKnown("x.a.test", now: end))
        // A void field leaves the policy.
        #expect(table.fieldReceived(["max-age=60; max-age=60"], from: "a.test", now: later) == .none)
        #expect(table.isKnown("x.a.test", now: later))
        // The policy is replaced as a whole, and only the first value counts.
        #expect(table.fieldReceived(["max-age=60", "max-age=0"], from: "a.test", now: later) == .stored)
        #expect(!table.isKnown("x.a.test", now: later))
        #expect(table.isKnown("a.test", now: end))
        #expect(table.fieldReceived(["max-age=0"], from: "A.test.", now: later) == .removed)
        #expect(!table.isKnown("a.test", now: later))
        #expect(table.fieldReceived(["max-age=0"], from: "a.test", now: later) == .none)
        #expect(table.fieldReceived([], from: "a.test", now: later) == .none)
    }

    @Test func aListOfOnesOwn() {
        var table = HSTSTable(preloads: [("a.test", false), ("B.test.", true), ("1.2.3.4", true), ("", true)])
        #expect(table.isKnown("a.test", now: Self.start))
        #expect(!table.isKnown("x.a.test", now: Self.start))
        #expect(table.isKnown("x.b.test", now: Self.start))
        #expect(!table.isKnown("1.2.3.4", now: Self.start))
        #expect(table.fieldReceived(["max-age=0"], from: "b.test", now: Self.start) == .none)
        table.forgot("b.test")
        table.forgotAll()
        #expect(table.isKnown("b.test", now: Self.start))
        #expect(!table.text(now: Self.start).contains("b.test"))
    }

    @Test func aFullTable() {
        var table = HSTSTable(capacity: 16)
        for index in 0..<16 {
            _ = table.fieldReceived(["max-age=\(100 + index)"], from: "h\(index).test", now: Self.start)
        }
        #expect(table.learned.count == 16)
        // A host that is known needs no room.
        _ = table.fieldReceived(["max-age=500"], from: "h0.test", now: Self.start)
        #expect(table.learned.count == 16)
        _ = table.fieldReceived(["max-age=500"], from: "new.test", now: Self.start)
        #expect(table.learned.count == 15)
        for host in ["h1.test", "h2.test"] { #expect(!table.isKnown(host, now: Self.start)) }
        for host in ["h0.test", "h3.test", "new.test"] { #expect(table.isKnown(host, now: Self.start)) }
        // All expired entries go at once.
        let late = CacheTime(seconds: 1_800_000_110)
        for index in 0..<2 { _ = table.fieldReceived(["max-age=500"], from: "n\(index).test", now: late) }
        #expect(table.learned.count == 9)
        for capacity in [Int.min, 0, 1] {
            var small = HSTSTable(capacity: capacity)
            for host in ["a.test", "b.test"] { _ = small.fieldReceived(["max-age=9"], from: host, now: Self.start) }
            #expect(small.learned.keys.sorted() == ["b.test"])
        }
    }

    /// The entries of the flood expire last.
    @Test func aSiteThatFloodsDisplacesItsOwnHosts() {
        var others = ["x.h0.test", "test"]
        others += (0..<20).map { "h\($0).test" }
        others += (0..<10).map { "s\($0).co.test" }
        for flood in ["evil.test", "evil.co.test", "y.evil.test"] {
            var table = HSTSTable(preloads: [("own.test", true)], capacity: 64)
            for host in others { _ = table.fieldReceived(["max-age=60"], from: host, now: Self.start) }
            for index in 0..<1000 {
                _ = table.fieldReceived(["max-age=9999"], from: "a\(index).b\(index % 7).\(flood)", now: Self.start)
                #expect(table.learned.count <= 64)
            }
            for host in others + ["own.test"] { #expect(table.isKnown(host, now: Self.start), "\(host), \(flood)") }
            // The newest host of the flood is known too.
            #expect(table.isKnown("a999.b\(999 % 7).\(flood)", now: Self.start))
        }
    }

    @Test func theLargestSiteLosesTheHostsThatExpireFirst() {
        var table = HSTSTable(capacity: 16)
        for index in 0..<6 {
            _ = table.fieldReceived(["max-age=\(10 + index)"], from: "s\(index).small.test", now: Self.start)
        }
        for index in 0..<10 {
            _ = table.fieldReceived(["max-age=\(100 + index)"], from: "l\(index).large.test", now: Self.start)
        }
        #expect(
            table.inOrderOfRemoval.prefix(6) == [
                "l0.large.test", "l1.large.test", "l2.large.test", "l3.large.test", "s0.small.test", "l4.large.test",
            ])
        _ = table.fieldReceived(["max-age=1"], from: "new.test", now: Self.start)
        #expect(table.learned.count == 15)
        for host in ["s0.small.test", "l2.large.test", "new.test"] {
            #expect(table.isKnown(host, now: Self.start), "\(host)")
        }
        for host in ["l0.large.test", "l1.large.test"] { #expect(!table.isKnown(host, now: Self.start), "\(host)") }
    }

    @Test func theTextOfCurl() {
        var table = table([("b.test", "max-age=60"), ("a.test", "max-age=86400; includeSubDomains")])
        #expect(table.textRead("c.test \"unlimited\"", now: Self.start) == 0)
        let text = table.text(now: Self.start)
        let lines = text.split(separator: "\n")
        #expect(lines.first?.hasPrefix("#") == true)
        #expect(
            lines.dropFirst() == [
                ".a.test \"20270116 08:00:00\"", "b.test \"20270115 08:01:00\"", "c.test \"unlimited\"",
            ])
        var copy = HSTSTable()
        #expect(copy.textRead(text, now: Self.start) == 0)
        #expect(copy.learned == table.learned)
        // What has expired is neither written nor read.
        let later = CacheTime(seconds: 1_800_000_060)
        #expect(!table.text(now: later).contains("b.test"))
        var late = HSTSTable()
        #expect(late.textRead(text, now: later) == 0)
        #expect(late.learned.keys.sorted() == ["a.test", "c.test"])
    }

    @Test(arguments: [
        "a.test", "a.test ", "a.test 20270115 08:00:00", "a.test \"20270115\"", "a.test \"20270115 08:00\"",
        "a.test \"20271315 08:00:00\"", "a.test \"20270230 08:00:00\"", "a.test \"20270115 24:00:00\"", "a.test \"",
        "a.test \"\"", " \"unlimited\"", ". \"unlimited\"", "..a.test \"unlimited\"", "a b.test \"unlimited\"",
        "a.test \"2027011508:00:00 \"", "\"a.test\" \"unlimited\"", "ä.test \"unlimited\"",
        "a.test \"+0270115 08:00:00\"",
    ])
    func badLines(_ line: String) {
        var table = HSTSTable()
        #expect(table.textRead("b.test \"unlimited\"\n\(line)\r\nc.test \"unlimited\"", now: Self.start) == 1)
        #expect(table.learned.keys.sorted() == ["b.test", "c.test"])
    }

    @Test func aLongLineAndALongFile() {
        var table = HSTSTable(capacity: 100)
        let long = String(repeating: "a", count: 600)
        #expect(table.textRead("\(long) \"unlimited\"\n# \(long)\n#\n\n", now: Self.start) == 2)
        let lines = (0..<1000).map { "h\($0).test \"unlimited\"\n" }.joined()
        #expect(table.textRead(lines, now: Self.start) == 0)
        #expect(table.learned.count <= 100 && table.learned.count > 80)
    }

    @Test func ofTwoLinesTheLaterExpiryStays() {
        let lines = ["a.test \"20270116 08:00:00\"", ".a.test \"20270115 09:00:00\"", "a.test \"unlimited\""]
        for order in [[0, 1], [1, 0]] {
            var table = HSTSTable()
            _ = table.textRead(order.map { lines[$0] }.joined(separator: "\n"), now: Self.start)
            #expect(table.text(now: Self.start).contains("\n\(lines[0])\n"))
        }
        for order in [[0, 2], [2, 0]] {
            var table = HSTSTable()
            _ = table.textRead(order.map { lines[$0] }.joined(separator: "\n"), now: Self.start)
            #expect(table.learned["a.test"] == .init(expires: nil, includesSubdomains: false))
        }
    }

    @Test(arguments: [
        ("http://a.test", "https://a.test"), ("http://a.test/", "https://a.test/"),
        ("HTTP://A.Test:80/x?y#z", "https://A.Test:443/x?y#z"), ("http://a.test:8080/x", "https://a.test:8080/x"),
        ("http://a.test:080/", "https://a.test:443/"), ("http://a.test:/x", "https://a.test:/x"),
        ("http://u:p@a.test:80/", "https://u:p@a.test:443/"), ("http://a.test.:80/", "https://a.test.:443/"),
        ("http://%61.test/", "https://%61.test/"), ("http://a.test?x", "https://a.test?x"),
    ])
    func upgrades(_ url: String, _ expected: String) {
        #expect(store().upgraded(url) == expected)
    }

    @Test(arguments: [
        "https://a.test/", "http://b.test/", "ftp://a.test/", "a.test", "/a.test", "//a.test/", "", "http:", "http://",
        "http://[::1]/", "http://127.0.0.1/", "http://a.test@b.test/", "http://%6/", "http://%+1.test/",
        "http:///a.test",
        "http://a.test%00/", "http://x.a.test/",
    ])
    func staysAsItIs(_ url: String) {
        #expect(store().upgraded(url) == nil)
    }

    private func store() -> HSTSStore {
        HSTSStore(preloads: [.init("a.test", includesSubdomains: false)])
    }

    @Test func theStore() {
        let times = Notes<CacheTime>()
        let store = HSTSStore(now: { times.all.last ?? Self.start })
        store.learn(["max-age=60"], from: "a.test", overFaultlessTLS: false)
        #expect(!store.isKnown("a.test"))
        store.learn(["max-age=60"], from: "a.test", overFaultlessTLS: true)
        #expect(store.isKnown("a.test"))
        #expect(store.upgraded("http://a.test/") == "https://a.test/")
        let other = HSTSStore(now: { Self.start })
        #expect(other.read(store.text + "bad\n") == 1)
        #expect(other.isKnown("a.test") && other.count == 1)
        times.add(CacheTime(seconds: 1_800_000_060))
        #expect(!store.isKnown("a.test"))
        other.forget("a.test")
        #expect(other.count == 0)
        _ = other.read("a.test \"unlimited\"")
        other.forgetAll()
        #expect(!other.isKnown("a.test"))
        // By the system's clock.
        let real = HSTSStore()
        real.learn(["max-age=60"], from: "a.test", overFaultlessTLS: true)
        #expect(real.isKnown("a.test"))
        #expect(real.text.contains("a.test \"20"))
    }

    /// Against a model that looks at every entry.
    @Test(arguments: 0..<10)
    func randomWalks(seed: UInt64) {
        struct Known { var expires: Int64, includes: Bool }
        var random = SeededGenerator(seed: seed)
        let hosts = ["a", "b.a", "c.b.a", "d.a", "e", "f.e", "g.f.e"]
        var table = HSTSTable()
        var model: [String: Known] = [:]
        var now: Int64 = 1_800_000_000
        for _ in 0..<2000 {
            let host = hosts[Int.random(in: 0..<hosts.count, using: &random)]
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let age = Int64.random(in: 0...30, using: &random)
                let includes = Bool.random(using: &random)
                let value = "max-age=\(age)" + (includes ? "; includeSubDomains" : "")
                _ = table.fieldReceived([value], from: host, now: CacheTime(seconds: now))
                model[host] = age == 0 ? nil : Known(expires: now + age, includes: includes)
            case 4: table.forgot(host); model[host] = nil
            case 5:
                // Through a file.
                var copy = HSTSTable()
                #expect(copy.textRead(table.text(now: CacheTime(seconds: now)), now: CacheTime(seconds: now)) == 0)
                table = copy
            default: now += Int64.random(in: 0...5, using: &random)
            }
            for host in hosts {
                let expected = model.contains { name, known in
                    known.expires > now && (name == host || known.includes && host.hasSuffix(".\(name)"))
                }
                #expect(table.isKnown(host, now: CacheTime(seconds: now)) == expected)
            }
        }
    }

    /// No text makes the readers trap.
    @Test(arguments: 0..<10)
    func randomTexts(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("max-age=;\"\\ .#:/@%0aé\n[]http".utf8)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            let text = String(decoding: bytes, as: UTF8.self)
            _ = HSTSPolicy(text)
            _ = IPAddress(text)
            _ = AltService.Field([text])
            var table = HSTSTable()
            _ = table.textRead("a.test \(text)\n\(text)", now: Self.start)
            _ = HSTSUpgrade.upgraded("http://\(text)") { _ in true }
            #expect(HSTSTable.name(text).map { HSTSTable.name($0) == $0 } ?? true)
        }
    }
}
