import Testing

@testable import ErrandResilience

@Suite struct HashRingTests {
    private func owner(_ ring: HashRing, _ key: Int, _ count: Int, without: Set<Int> = []) -> Int? {
        ring.member(at: HashRing.hash("key \(key)"), count: count) { !without.contains($0) }
    }

    /// The hash is part of the behaviour: keys keep their endpoint across processes and versions.
    @Test func theHashIsStable() {
        #expect(HashRing.hash("") == 0xf52a_15e9_a9b5_e89b)
        #expect(HashRing.hash("http://a:80#0") == 0x9810_c5a1_122b_44b2)
        #expect(Set((0..<10_000).map { HashRing.hash("\($0)") }).count == 10_000)
    }

    @Test func keysAreSpreadByWeight() {
        let ring = HashRing([("a", 1), ("b", 1), ("c", 2)], size: 4096)
        var shares = [0, 0, 0]
        for key in 0..<20_000 { if let owner = owner(ring, key, 3) { shares[owner] += 1 } }
        #expect(shares.reduce(0, +) == 20_000)
        for (share, expected) in zip(shares, [5000, 5000, 10_000]) { #expect(abs(share - expected) < expected / 5) }
    }

    /// Only the keys of a member that leaves go to others.
    @Test func fewKeysMove() {
        let before = HashRing([("a", 1), ("b", 1), ("c", 1), ("d", 1)], size: 1024)
        let after = HashRing([("a", 1), ("b", 1), ("c", 1)], size: 768)
        for key in 0..<5000 {
            let former = owner(before, key, 4)
            if former != 3 { #expect(owner(after, key, 3) == former) }
            // The same where the member is only left out for a time.
            #expect(owner(before, key, 4, without: [3]) == owner(after, key, 3))
        }
    }

    @Test func noMemberAndNoAcceptance() {
        #expect(owner(HashRing([], size: 1024), 1, 0) == nil)
        let ring = HashRing([("a", 1), ("b", 1000)], size: 1)
        #expect((0..<50).allSatisfy { owner(ring, $0, 2, without: [1]) == 0 })
        #expect(owner(ring, 1, 2, without: [0, 1]) == nil)
    }
}
