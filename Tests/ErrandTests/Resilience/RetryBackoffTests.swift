import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

@Suite struct RetryBackoffTests {
    @Test(
        arguments: [
            (1, 100), (2, 200), (3, 400), (4, 800), (5, 1000), (6, 1000), (200, 1000), (.max, 1000), (0, 100),
            (.min, 100),
        ] as [(Int, Int)])
    func theCeilingDoublesUpToTheCap(retry: Int, milliseconds: Int) {
        let backoff = RetryBackoff(base: .milliseconds(100), cap: .seconds(1))
        #expect(backoff.ceiling(retry: retry) == .milliseconds(milliseconds))
    }

    @Test func theWholeRangeIsDrawnAfterCapping() {
        let backoff = RetryBackoff(base: .milliseconds(100), cap: .seconds(1))
        #expect(backoff.wait(retry: 9, random: 0) == .zero)
        #expect(backoff.wait(retry: 9, random: 0.5) == .milliseconds(500))
        #expect(backoff.wait(retry: 9, random: 1) == .seconds(1))
        #expect(backoff.wait(retry: 2, random: 0.25) == .milliseconds(50))
    }

    @Test func numbersOutOfRangeAreClamped() {
        let backoff = RetryBackoff(base: .seconds(-1), cap: .seconds(-5))
        #expect(backoff.base == .zero && backoff.cap == .zero)
        #expect(backoff.wait(retry: 3, random: 1) == .zero)
        let long = RetryBackoff(base: .seconds(Int64.max), cap: .seconds(Int64.max))
        #expect(long.wait(retry: .max, random: 1) == .longestSleep)
        #expect(long.wait(retry: 1, random: .infinity) == .longestSleep)
        #expect(long.wait(retry: 1, random: -3) == .zero)
        #expect(long.wait(retry: 1, random: .nan) == .longestSleep)
        #expect(RetryBackoff(base: .seconds(9), cap: .seconds(2)).ceiling(retry: 1) == .seconds(2))
        #expect(RetryBackoff(base: .nanoseconds(1), cap: .longestSleep).ceiling(retry: .max) == .longestSleep)
    }

    /// Each tenth of the range gets a tenth of the draws.
    @Test(arguments: [1, 4, 30])
    func drawsAreUniform(retry: Int) {
        var random = SeededGenerator(seed: UInt64(retry))
        let backoff = RetryBackoff()
        var counts = [Int](repeating: 0, count: 10)
        for _ in 0..<20_000 {
            let wait = backoff.wait(retry: retry, random: .random(in: 0...1, using: &random))
            counts[min(9, Int(wait / backoff.ceiling(retry: retry) * 10))] += 1
        }
        for count in counts { #expect((1800...2200).contains(count)) }
    }
}
