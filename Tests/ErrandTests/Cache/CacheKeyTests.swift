import Errand
import Testing

@testable import ErrandCaching

@Suite struct CacheKeyTests {
    @Test func aDigestIs64LowercaseDigits() {
        let digest = String(repeating: "0f", count: 32)
        #expect(CacheKey(namespace: "n", digest: digest)?.digest == digest)
        for bad in [
            "", String(digest.dropLast()), digest + "0", digest.uppercased(), String(repeating: "0g", count: 32),
        ] {
            #expect(CacheKey(digest: bad) == nil)
        }
    }

    @Test func noTwoListsOfPartsHaveOneKey() {
        let lists: [[[UInt8]]] = [[], [[]], [[], []], [[1, 2]], [[1], [2]], [[], [1, 2]], [[2], [1]]]
        let keys = lists.map { CacheKey(hashing: $0) }
        #expect(!keys.contains(nil) && Set(keys).count == lists.count)
        #expect(CacheKey(hashing: [[1], [2]]) == CacheKey(hashing: [[1], [2]]))
        #expect(CacheKey(namespace: "a", hashing: []) != CacheKey(namespace: "b", hashing: []))
    }
}
