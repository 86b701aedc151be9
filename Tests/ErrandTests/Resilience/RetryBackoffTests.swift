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

    /// A jitter of 0 is the wait of `curl --retry`.
    @Test func aPartOfTheWaitIsFixed() {
        let curl = RetryBackoff(base: .seconds(1), cap: .seconds(600), jitter: 0)
        let seconds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600]
        #expect((1...11).map { curl.wait(retry: $0, random: 0.3) } == seconds.map { .seconds($0) })
        let half = RetryBackoff(base: .milliseconds(100), cap: .seconds(1), jitter: 0.5)
        #expect(half.wait(retry: 1, random: 0) == .milliseconds(50))
        #expect(half.wait(retry: 2, random: 0.5) == .milliseconds(150))
        #expect(half.wait(retry: 9, random: 1) == .seconds(1))
        #expect(half.wait(retry: 1, random: .nan) == .milliseconds(100))
        #expect(RetryBackoff(jitter: .nan).jitter == 1 && RetryBackoff(jitter: -1).jitter == 0)
        #expect(RetryBackoff(jitter: 7).jitter == 1 && RetryBackoff().jitter == 1)
    }

    /// What the server asks for replaces the fixed part where it is longer; the draw is added.
    @Test(
        arguments: [
            (1, 0, 0, 0), (1, 0, 1, 100), (1, 300, 0, 300), (1, 300, 1, 400), (0, 0, 1, 100), (0, 60, 1, 100),
            (0, 300, 1, 300), (0.5, 20, 1, 100), (0.5, 300, 1, 350),
        ] as [(Double, Int, Double, Int)])
    func whatTheServerAsksFor(jitter: Double, least: Int, random: Double, expected: Int) {
        let backoff = RetryBackoff(base: .milliseconds(100), cap: .seconds(1), jitter: jitter)
        #expect(backoff.wait(retry: 1, atLeast: .milliseconds(least), random: random) == .milliseconds(expected))
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
