import ErrandTesting
import Testing

@testable import ErrandResilience

@Suite struct RecencyMapTests {
    @Test func idleValuesGoFirst() {
        var map = RecencyMap<Int, Int>(capacity: 4, idleTime: .seconds(10))
        for key in 0..<4 { _ = map.value(key, now: .seconds(key)) { key } }
        // 0 and 1 are idle.
        _ = map.value(9, now: .seconds(11)) { 9 }
        #expect(Set(map.values.map(\.key)) == [2, 3, 9])
        #expect(map.peek(0) == nil && map.peek(2) == 2)
    }

    /// The search for idle values is made once for an eighth of the capacity, not for each new value.
    @Test func aFullMapMakesRoomForMany() {
        var map = RecencyMap<Int, Int>(capacity: 64, idleTime: .seconds(10))
        _ = map.value(0, now: .zero) { 0 }
        for key in 1..<64 { _ = map.value(key, now: .seconds(5)) { key } }
        // One value is idle.
        _ = map.value(64, now: .seconds(11)) { 64 }
        #expect(map.count == 57)
        #expect(map.peek(7) == nil && map.peek(8) == 8)
    }

    @Test func aMapWithoutIdleValuesForgetsTheLongestUnused() {
        var map = RecencyMap<Int, Int>(capacity: 3, idleTime: .seconds(10))
        for key in 0..<3 { _ = map.value(key, now: .zero) { key } }
        _ = map.value(0, now: .zero) { -1 }
        _ = map.value(3, now: .zero) { 3 }
        #expect(Set(map.values.map(\.key)) == [0, 2, 3])
    }

    /// Never above the capacity; the value that was just used is there; a value that stays is the same.
    @Test(arguments: [0, 1, 2, 7, 64], 0..<4 as Range<UInt64>)
    func randomWalks(capacity: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var map = RecencyMap<Int, Int>(capacity: capacity, idleTime: .seconds(5))
        var made: [Int: Int] = [:]
        var now = Duration.zero
        for turn in 0..<2000 {
            now += .milliseconds(Int.random(in: 0...200, using: &random))
            let key = Int.random(in: 0..<100, using: &random)
            let known = map.peek(key)
            let value = map.value(key, now: now) { turn }
            #expect(known == nil ? value == turn : value == made[key])
            made[key] = value
            #expect(map.count <= max(capacity, 1) && map.peek(key) == value)
        }
    }
}
