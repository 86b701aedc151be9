import Errand
import HTTPTypes
import Testing

@testable import ErrandCaching

@Suite struct CacheStatusTests {
    private static let table: [(CacheStatus, String)] = [
        (CacheStatus(), "errand; hit"),
        (CacheStatus(timeToLive: 376), "errand; hit; ttl=376"),
        (CacheStatus(timeToLive: -412), "errand; hit; ttl=-412"),
        (CacheStatus(timeToLive: .min), "errand; hit; ttl=-999999999999999"),
        (CacheStatus(forward: .uriMiss, isStored: true), "errand; fwd=uri-miss; stored"),
        (CacheStatus(forward: .uriMiss, isCollapsed: true), "errand; fwd=uri-miss; collapsed"),
        (CacheStatus(forward: .stale, forwardStatus: 304), "errand; fwd=stale; fwd-status=304"),
        (
            CacheStatus(
                forward: .varyMiss, forwardStatus: 200, timeToLive: 9, isStored: true, isCollapsed: true, key: "k"),
            "errand; fwd=vary-miss; fwd-status=200; ttl=9; stored; collapsed; key=\"k\""
        ),
        // What is about the way forward is nothing to a hit.
        (CacheStatus(forwardStatus: 200, isStored: true, isCollapsed: true), "errand; hit"),
        (CacheStatus(cache: "a b"), "\"a b\"; hit"),
        (CacheStatus(cache: "1x"), "\"1x\"; hit"),
        (CacheStatus(cache: "a/b:1"), "a/b:1; hit"),
        (CacheStatus(detail: "memory"), "errand; hit; detail=memory"),
        (CacheStatus(detail: "disk full"), "errand; hit; detail=\"disk full\""),
        (CacheStatus(key: "a\"\\é\n"), "errand; hit; key=\"a\\\"\\\\%C3%A9%0A\""),
        (CacheStatus(forward: .method), "errand; fwd=method"), (CacheStatus(forward: .bypass), "errand; fwd=bypass"),
        (CacheStatus(forward: .request), "errand; fwd=request"), (CacheStatus(forward: .miss), "errand; fwd=miss"),
    ]

    @Test(arguments: table.indices)
    func rfc9211_2_parameters(row: Int) {
        let (status, expected) = Self.table[row]
        #expect(status.text == expected)
    }

    @Test func rfc9211_2_itsMemberIsTheLast() {
        #expect(CacheStatus().appended(to: nil) == "errand; hit")
        #expect(CacheStatus().appended(to: "origin; hit") == "origin; hit, errand; hit")
    }

    @Test(
        arguments: [
            (.fresh(entry: 0, age: 0), nil), (.stale(entry: 0, age: 0, revalidation: [:]), nil), (.unsatisfiable, nil),
            (.revalidate(entry: 0, conditions: [:], reason: .stale), .stale),
            (.revalidate(entry: 0, conditions: [:], reason: .request), .request), (.miss(.method), .method),
            (.miss(.bypass), .bypass), (.miss(.nothingStored), .uriMiss), (.miss(.vary), .varyMiss),
            (.miss(.unusable), .miss),
        ] as [(HTTPCacheDecision, CacheStatus.Forward?)])
    func rfc9211_2_2_reasons(decision: HTTPCacheDecision, expected: CacheStatus.Forward?) {
        #expect(CacheStatus.Forward(decision) == expected)
    }
}
