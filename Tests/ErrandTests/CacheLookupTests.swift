import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching

@Suite struct CacheLookupTests {
    private typealias World = CacheWorld

    /// What a response with that `Cache-Control` and an ETag does for a request with that one, at that age.
    private static let table: [(String, String?, Int64, String)] = [
        // RFC 9111 5.2.1.1
        ("max-age=100", "max-age=10", 10, "fresh"), ("max-age=100", "max-age=10", 11, "revalidate"),
        ("max-age=100", "max-age=0", 0, "revalidate"), ("max-age=100", "max-age=x", 0, "revalidate"),
        ("max-age=10", "max-age=99", 11, "revalidate"),
        // 5.2.1.2
        ("max-age=10", "max-stale", 1000, "stale"), ("max-age=10", "max-stale=5", 15, "stale"),
        ("max-age=10", "max-stale=5", 16, "revalidate"), ("max-age=10", "max-stale=5", 9, "fresh"),
        ("max-age=10", "max-stale=x", 11, "revalidate"),
        ("max-age=10", "max-stale, max-age=12", 12, "stale"), ("max-age=10", "max-stale, max-age=12", 13, "revalidate"),
        // 5.2.1.3
        ("max-age=10", "min-fresh=4", 6, "fresh"), ("max-age=10", "min-fresh=4", 7, "revalidate"),
        ("max-age=10", "min-fresh=4, max-stale", 11, "revalidate"), ("max-age=10", "min-fresh=x", 1, "revalidate"),
        // 5.2.1.4
        ("max-age=10", "no-cache", 0, "revalidate"), ("max-age=10, immutable", "no-cache", 0, "revalidate"),
        ("max-age=10", "no-cache, max-stale", 20, "revalidate"),
        // 5.2.1.5: it is about storing.
        ("max-age=10", "no-store", 1, "fresh"),
        // 5.2.1.7
        ("max-age=10", "only-if-cached", 1, "fresh"), ("max-age=10", "only-if-cached", 11, "unsatisfiable"),
        ("max-age=10", "only-if-cached, max-stale", 11, "stale"), ("no-cache", "only-if-cached", 0, "unsatisfiable"),
        ("max-age=10, stale-while-revalidate=5", "only-if-cached", 11, "stale"),
        // 5.2.2.2
        ("max-age=10, must-revalidate", "max-stale", 11, "revalidate"),
        ("max-age=10, must-revalidate", nil, 9, "fresh"),
        ("max-age=10, must-revalidate, stale-while-revalidate=9", nil, 11, "revalidate"),
        // 5.2.2.4
        ("max-age=10, no-cache", nil, 0, "revalidate"), ("max-age=10, no-cache", "max-stale", 1, "revalidate"),
        ("max-age=10, no-cache=\"x\"", nil, 1, "fresh"),
        // 5.2.2.8, 5.2.2.10: for shared caches.
        ("max-age=10, proxy-revalidate", "max-stale", 11, "stale"),
        ("max-age=10, s-maxage=5", "max-stale", 11, "stale"),
        // RFC 5861 3
        ("max-age=10, stale-while-revalidate=5", nil, 15, "stale+revalidate"),
        ("max-age=10, stale-while-revalidate=5", nil, 16, "revalidate"),
        ("max-age=10, stale-while-revalidate=5", nil, 9, "fresh"),
        ("max-age=10, stale-while-revalidate=5", "max-age=30", 11, "revalidate"),
        ("max-age=10, stale-while-revalidate=5", "min-fresh=0", 11, "revalidate"),
        ("max-age=10, stale-while-revalidate=5", "no-cache", 11, "revalidate"),
        ("max-age=10, stale-while-revalidate=0", nil, 10, "revalidate"),
        // RFC 8246 2
        ("max-age=10, immutable", "max-age=0", 9, "fresh"), ("max-age=10, immutable", "max-age=0", 10, "revalidate"),
        // 4.2.1: of two that disagree the stricter.
        ("max-age=10, no-store", nil, 1, "miss"), ("max-age=10", nil, 1, "fresh"),
        ("max-age=10", nil, 10, "revalidate"),
    ]

    @Test(arguments: table.indices)
    func rfc9111_4_and_5_2_directives(row: Int) {
        let (response, request, age, expected) = Self.table[row]
        let entry = World.entry([("Cache-Control", response), ("ETag", "\"1\"")])
        let kind = World.decide(World.request(.get, request), [entry], at: age).kind
        #expect(kind == expected, "\(response) | \(request ?? "-") | \(age)")
    }

    @Test(arguments: ["max-age=10, proxy-revalidate", "s-maxage=10", "s-maxage=10, stale-while-revalidate=9"])
    func rfc9111_5_2_2_8_and_5_2_2_10_sharedCachesValidate(control: String) {
        let entry = World.entry([("Cache-Control", control)])
        #expect(
            World.decide(World.request(.get, "max-stale"), [entry], at: 11, rules: World.shared).kind == "revalidate")
        #expect(World.decide([entry], at: 9, rules: World.shared).kind == "fresh")
    }

    @Test func rfc9111_5_4_pragma() {
        let entry = World.entry([("Cache-Control", "max-age=10")])
        let request = World.request(.get, nil, [("Pragma", "no-cache")])
        #expect(World.decide(request, [entry], at: 1).kind == "revalidate")
    }

    @Test func rfc9110_9_3_2_headIsAnsweredByAStoredGet() {
        let entry = World.entry([("Cache-Control", "max-age=10")])
        #expect(World.decide(World.request(.head), [entry], at: 1) == .fresh(entry: 0, age: 1000))
    }

    @Test func rfc9111_4_otherMethodsAreWrittenThrough() {
        let entry = World.entry([("Cache-Control", "max-age=10")])
        for method in [HTTPRequest.Method.post, .put, .delete, .options, .patch] {
            #expect(World.decide(World.request(method), [entry], at: 1) == .miss(.method))
            #expect(World.decide(World.request(method, "only-if-cached"), [entry], at: 1) == .unsatisfiable)
        }
    }

    @Test(arguments: ["Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"])
    func rfc9111_3_4_partsAndConditionsPassThrough(name: String) {
        let entry = World.entry([("Cache-Control", "max-age=10")])
        #expect(World.decide(World.request(.get, nil, [(name, "x")]), [entry], at: 1) == .miss(.bypass))
    }

    @Test func rfc9111_5_2_1_7_nothingStored() {
        #expect(World.decide([], at: 0) == .miss(.nothingStored))
        #expect(World.decide(World.request(.get, "only-if-cached"), [], at: 0) == .unsatisfiable)
    }

    @Test func rfc9111_4_theMostRecentIsUsed() {
        let fields = [("Cache-Control", "max-age=100")]
        let dates: [Int64] = [-3, -1, -2]
        let stored = dates.map { World.entry(fields + [("Date", World.date($0))]) }
        #expect(World.decide(stored, at: 0) == .fresh(entry: 1, age: 1000))
        // Rather one with Vary (4.1).
        let request = World.request(.get, nil, [("Accept", "a")])
        let varied = World.entry(fields + [("Vary", "Accept"), ("Date", World.date(-9))], for: request)
        #expect(World.decide(request, stored + [varied], at: 0) == .fresh(entry: 3, age: 9000))
    }

    @Test func rfc9111_4_1_varyPicksTheEntry() {
        let requests = ["a", "b"].map { World.request(.get, nil, [("Accept", $0)]) }
        let stored = requests.map { World.entry([("Cache-Control", "max-age=9"), ("Vary", "Accept")], for: $0) }
        for (index, request) in requests.enumerated() {
            #expect(World.decide(request, stored, at: 1) == .fresh(entry: index, age: 1000))
        }
        #expect(World.decide(World.request(.get, nil, [("Accept", "c")]), stored, at: 1) == .miss(.vary))
        #expect(World.decide(stored, at: 1) == .miss(.vary))
    }

    @Test func rfc9111_4_3_1_conditions() {
        func conditions(_ fields: [(String, String)]) -> HTTPFields? {
            guard case .revalidate(0, let conditions, .stale) = World.decide([World.entry(fields)], at: 1) else {
                return nil
            }
            return conditions
        }
        let date = "Sunday, 06-Nov-94 08:49:37 GMT"
        let age = ("Cache-Control", "max-age=0")
        #expect(conditions([age, ("ETag", "W/\"1\"")]) == [.ifNoneMatch: "W/\"1\""])
        #expect(conditions([age, ("Last-Modified", date)]) == [.ifModifiedSince: date])
        #expect(
            conditions([age, ("ETag", "\"1\""), ("Last-Modified", date)])
                == [.ifNoneMatch: "\"1\"", .ifModifiedSince: date])
        #expect(conditions([age]) == [:])
        #expect(conditions([age, ("ETag", "1"), ("Last-Modified", "today")]) == [:])
    }

    @Test func rfc5861_3_revalidationInTheBackgroundIsConditional() {
        let entry = World.entry([("Cache-Control", "max-age=1, stale-while-revalidate=9"), ("ETag", "\"1\"")])
        #expect(World.decide([entry], at: 3) == .stale(entry: 0, age: 3000, revalidation: [.ifNoneMatch: "\"1\""]))
    }

    @Test func rfc9111_3_whatMustNotBeStoredIsNotServed() {
        for (control, rules) in [("no-store, max-age=9", HTTPCacheRules()), ("private, max-age=9", World.shared)] {
            let entry = World.entry([("Cache-Control", control)])
            #expect(World.decide([entry], at: 1, rules: rules) == .miss(.unusable))
        }
        for status in [206, 304] {
            let entry = World.entry([("Cache-Control", "max-age=9")], status: status)
            #expect(World.decide([entry], at: 1) == .miss(.unusable))
        }
    }
}
