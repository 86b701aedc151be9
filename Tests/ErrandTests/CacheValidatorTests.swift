import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching

@Suite struct CacheValidatorTests {
    @Test(arguments: ["\"\"", "\"xyzzy\"", "W/\"xyzzy\"", "\"a,b\\\"", "\"é\"", "\"W/\""])
    func rfc9110_8_8_3_entityTags(text: String) {
        #expect(EntityTag(text)?.text == text)
        #expect(EntityTag(" \(text)\t")?.isWeak == text.hasPrefix("W/"))
    }

    @Test(arguments: [
        "", "\"", "xyzzy", "w/\"x\"", "W/ \"x\"", "W/x", "\"a\"b\"", "\"a b\"", "\"a\u{7F}\"", "\"a\", \"b\"",
    ])
    func rfc9110_8_8_3_whatIsNoEntityTag(text: String) {
        #expect(EntityTag(text) == nil)
    }

    @Test(arguments: [
        ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
        ("W/\"1\"", "\"1\"", false, true), ("\"1\"", "\"1\"", true, true), ("\"1\"", "\"2\"", false, false),
        // The same letter, other bytes.
        ("\"\u{E9}\"", "\"e\u{301}\"", false, false),
    ])
    func rfc9110_8_8_3_2_comparison(left: String, right: String, strong: Bool, weak: Bool) throws {
        let left = try #require(EntityTag(left))
        let right = try #require(EntityTag(right))
        #expect(left.matchesStrongly(right) == strong)
        #expect(right.matchesStrongly(left) == strong)
        #expect(left.matchesWeakly(right) == weak)
        #expect(right.matchesWeakly(left) == weak)
    }

    private static let varyTable: [(String, [(String, String)], [(String, String)], Bool)] = [
        ("Accept", [("Accept", "a")], [("Accept", "a")], true),
        ("Accept", [("Accept", "a")], [("Accept", "b")], false),
        ("accept", [("Accept", "a , b")], [("Accept", "a"), ("Accept", "b")], true),
        ("Accept", [("Accept", "a;q=\"x,y\"")], [("Accept", "a;q=\"x, y\"")], false),
        ("Accept-Encoding", [("Accept-Encoding", "GZIP,br")], [("Accept-Encoding", "gzip, br")], true),
        ("X", [("X", "a,b")], [("X", "a, b")], false),
        ("X", [("X", "A")], [("X", "a")], false),
        ("X", [("X", "a")], [("X", " a\t")], true),
        // An absent field matches nothing but an absent one.
        ("X", [], [], true), ("X", [("X", "")], [], false), ("X", [], [("X", "")], false),
        ("X, Y", [("X", "1"), ("Y", "2")], [("X", "1"), ("Y", "2"), ("Z", "3")], true),
        ("X, Y", [("X", "1"), ("Y", "2")], [("Y", "1"), ("X", "2")], false),
        ("X, Y", [("X", "1")], [("Y", "1")], false),
    ]

    @Test(arguments: varyTable.indices)
    func rfc9111_4_1_vary(row: Int) throws {
        let (vary, first, second, expected) = Self.varyTable[row]
        let names = try #require(VaryValues.names(CacheWorld.fields([("Vary", vary)])))
        let values = VaryValues(names: names, request: CacheWorld.fields(first), digest: CacheWorld.identity)
        #expect(values.matches(CacheWorld.fields(second), digest: CacheWorld.identity) == expected)
        #expect(values.matches(CacheWorld.fields(first), digest: CacheWorld.identity))
    }

    @Test(arguments: ["*", "Accept, *", "*, Accept", "Accept Encoding", "a, \"b\""])
    func rfc9111_4_1_anythingNeverMatches(vary: String) {
        #expect(VaryValues.names(CacheWorld.fields([("Vary", "X"), ("Vary", vary)])) == nil)
        let entry = CacheWorld.entry([("Vary", vary), ("Cache-Control", "max-age=100")])
        #expect(CacheWorld.decide([entry], at: 1) == .miss(.vary))
    }

    @Test func rfc9111_4_1_namesAreOneSet() {
        #expect(VaryValues.names(HTTPFields()) == [])
        #expect(VaryValues.names(CacheWorld.fields([("Vary", "b, A,,a"), ("Vary", " c")])) == ["a", "b", "c"])
    }

    /// What a request had is not kept, only what the digest made of it.
    @Test func rfc9111_4_1_valuesAreKeptAsADigest() {
        let secret = CacheWorld.fields([("Cookie", "secret")])
        let digest: VaryValues.Digest = { bytes in [bytes.reduce(7) { $0 &* 31 &+ $1 }] }
        let values = VaryValues(names: ["cookie"], request: secret, digest: digest)
        #expect(values.digest.count == 1)
        #expect(values.matches(secret, digest: digest))
        #expect(!values.matches(HTTPFields(), digest: digest))
    }
}
