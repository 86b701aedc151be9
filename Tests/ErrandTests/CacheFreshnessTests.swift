import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching

@Suite struct CacheFreshnessTests {
    private typealias World = CacheWorld
    private typealias Lifetime = HTTPCacheEntry.Lifetime

    private static let table: [([(String, String)], Bool, Lifetime)] = [
        ([("Cache-Control", "max-age=10")], false, Lifetime(span: 10_000, source: .maxAge)),
        ([("Cache-Control", "s-maxage=5, max-age=10")], false, Lifetime(span: 10_000, source: .maxAge)),
        ([("Cache-Control", "max-age=10, s-maxage=5")], true, Lifetime(span: 5_000, source: .sharedMaxAge)),
        ([("Cache-Control", "s-maxage=x, max-age=10")], true, Lifetime(span: 0, source: .sharedMaxAge)),
        (
            [("Cache-Control", "max-age=10"), ("Expires", World.date(99))], false,
            Lifetime(span: 10_000, source: .maxAge)
        ),
        ([("Cache-Control", "max-age=x"), ("Expires", World.date(99))], false, Lifetime(span: 0, source: .maxAge)),
        ([("Expires", World.date(99))], false, Lifetime(span: 99_000, source: .expires)),
        ([("Expires", World.date(99)), ("Date", World.date(-1))], false, Lifetime(span: 100_000, source: .expires)),
        ([("Expires", World.date(99)), ("Date", "yesterday")], false, Lifetime(span: 99_000, source: .expires)),
        ([("Expires", World.date(-5))], false, Lifetime(span: 0, source: .expires)),
        ([("Expires", World.date(7)), ("Expires", World.date(99))], false, Lifetime(span: 7_000, source: .expires)),
        // RFC 9111 5.3: what is no date is the past.
        ([("Expires", "0")], false, Lifetime(span: 0, source: .expires)),
        ([("Expires", "-1"), ("Last-Modified", World.date(-9999))], false, Lifetime(span: 0, source: .expires)),
        ([], false, Lifetime(span: 0, source: .none)),
        ([("Cache-Control", "max-age=99999999999")], false, Lifetime(span: (1 << 31) * 1000, source: .maxAge)),
    ]

    @Test(arguments: table.indices)
    func rfc9111_4_2_1_lifetime(row: Int) {
        let (fields, isShared, expected) = Self.table[row]
        #expect(World.entry(fields).lifetime(HTTPCacheRules(isShared: isShared)) == expected)
    }

    @Test func rfc9111_4_2_2_heuristic() {
        let fields = [("Last-Modified", World.date(-1000))]
        #expect(World.entry(fields).lifetime(HTTPCacheRules()) == Lifetime(span: 100_000, source: .heuristic))
        #expect(World.entry(fields).lifetime(HTTPCacheRules(heuristicPercent: 0)).span == 0)
        #expect(World.entry(fields).lifetime(HTTPCacheRules(heuristicPercent: 1000)).span == 1_000_000)
        #expect(World.entry(fields).lifetime(HTTPCacheRules(heuristicLimit: 30)).span == 30_000)
        let old = [("Last-Modified", World.date(-400 * 86_400))]
        #expect(World.entry(old).lifetime(HTTPCacheRules()).span == 86_400_000)
        let future = [("Last-Modified", World.date(10))]
        #expect(World.entry(future).lifetime(HTTPCacheRules()).span == 0)
    }

    @Test func rfc9111_4_2_2_heuristicNeedsAStatusOrPublic() {
        let fields = [("Last-Modified", World.date(-1000))]
        #expect(World.entry(fields, status: 302).lifetime(HTTPCacheRules()).source == .none)
        let marked = fields + [("Cache-Control", "public")]
        #expect(World.entry(marked, status: 302).lifetime(HTTPCacheRules()).source == .heuristic)
    }

    /// Fields, sent, received, now, age in seconds.
    private static let ages: [([(String, String)], Int64, Int64, Int64, Int64)] = [
        ([], 0, 0, 0, 0), ([], 0, 0, 10, 10),
        // apparent_age
        ([("Date", World.date(-7))], 0, 0, 0, 7), ([("Date", World.date(7))], 0, 0, 5, 5),
        // corrected_age_value
        ([("Age", "20")], 0, 0, 0, 20), ([("Age", "20")], 0, 4, 10, 30),
        // The greater of the two.
        ([("Age", "3"), ("Date", World.date(-30))], 0, 0, 1, 31),
        ([("Age", "40"), ("Date", World.date(-30))], 0, 0, 1, 41),
        // response_delay
        ([("Date", World.date(4))], 0, 4, 4, 4),
        // A clock that was set back.
        ([("Age", "5")], 10, 4, 4, 5), ([("Age", "5")], 0, 0, -100, 105),
    ]

    @Test(arguments: ages.indices)
    func rfc9111_4_2_3_age(row: Int) {
        let (fields, requested, received, now, expected) = Self.ages[row]
        let entry = World.entry(fields, requested: requested, received: received)
        #expect(entry.age(at: World.at(now)) == expected * 1000)
    }

    @Test(
        arguments: [
            ("5", 5), ("0", 0), (" 5 ", 5), ("5, 9", 5), ("x", 0), ("-5", 0), ("5.5", 0), ("", 0), (", 5", 0),
            ("99999999999", 1 << 31),
        ] as [(String, Int64)])
    func rfc9111_5_1_ageField(value: String, expected: Int64) {
        #expect(World.entry([("Age", value)]).ageField == expected)
        #expect(World.entry([("Age", value), ("Age", "77")]).ageField == expected)
    }

    @Test func rfc9111_4_and_5_1_ageIsReplacedWhenServed() {
        let entry = World.entry([("Age", "20"), ("X", "1")])
        #expect(entry.fieldsToServe(age: 31_999)[values: .age] == ["31"])
        #expect(entry.fieldsToServe(age: 0).count == 2)
    }

    @Test func rfc9111_4_2_freshMeansYoungerThanTheLifetime() {
        let entry = World.entry([("Cache-Control", "max-age=10"), ("ETag", "\"1\"")])
        #expect(World.decide([entry], at: 9) == .fresh(entry: 0, age: 9000))
        #expect(World.decide([entry], at: 10).kind == "revalidate")
    }
}
