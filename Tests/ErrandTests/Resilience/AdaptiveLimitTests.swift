import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

@Suite struct AdaptiveLimitTests {
    /// Windows of 1 s with ten samples each.
    private func run(
        _ limit: inout AdaptiveLimit, windows: Int, latency: Duration, inFlight: Int? = nil, drops: Bool = false,
        from second: Int = 0
    ) {
        for window in 0..<windows {
            for sample in 0...10 {
                let now = Duration.seconds(second + window) + .milliseconds(sample * 100)
                limit.requestEnded(
                    latency: latency, inFlight: inFlight ?? limit.limit, isDropped: drops && sample == 5, now: now)
            }
        }
    }

    @Test func additiveIncreaseMultiplicativeDecrease() {
        var limit = AdaptiveLimit(.init(.aimd(.init()), initial: 20, bounds: 5...30))
        run(&limit, windows: 3, latency: .milliseconds(10))
        #expect(limit.limit == 23)
        run(&limit, windows: 1, latency: .milliseconds(10), drops: true, from: 10)
        #expect(abs(limit.estimate - 20.7) < 1e-9)
        // A latency above the timeout counts as a drop.
        run(&limit, windows: 1, latency: .seconds(6), from: 20)
        #expect(abs(limit.estimate - 18.63) < 1e-9)
        run(&limit, windows: 50, latency: .milliseconds(10), from: 30)
        #expect(limit.limit == 30)
        run(&limit, windows: 50, latency: .milliseconds(10), drops: true, from: 100)
        #expect(limit.limit == 5)
    }

    @Test func anUnusedLimitDoesNotGrow() {
        for algorithm in [AdaptiveLimit.Algorithm.aimd(.init()), .gradient2(.init())] {
            var limit = AdaptiveLimit(.init(algorithm))
            run(&limit, windows: 20, latency: .milliseconds(10), inFlight: 9)
            #expect(limit.limit == 20)
            run(&limit, windows: 20, latency: .milliseconds(10), inFlight: 15, from: 20)
            #expect(limit.limit > 20)
        }
    }

    /// The numbers of Gradient2 by hand: 20 x 1 + 4, smoothed by 0.2.
    @Test func theGradientsFirstStep() {
        var limit = AdaptiveLimit(.init(.gradient2(.init())))
        run(&limit, windows: 1, latency: .milliseconds(10))
        #expect(abs(limit.estimate - 20.8) < 1e-9)
    }

    @Test func theGradientFollowsTheLatency() {
        var limit = AdaptiveLimit(.init(.gradient2(.init())))
        run(&limit, windows: 40, latency: .milliseconds(10))
        let high = limit.limit
        #expect(high > 50)
        // A growth within the tolerance does no harm.
        run(&limit, windows: 5, latency: .milliseconds(14), from: 100)
        #expect(limit.limit >= high)
        run(&limit, windows: 20, latency: .milliseconds(100), from: 200)
        #expect(limit.limit < high / 2)
        #expect(limit.limit >= 20)
        run(&limit, windows: 250, latency: .milliseconds(10), from: 300)
        #expect(limit.limit == 200)
    }

    /// A server that refuses fast has a low latency.
    @Test func aDropShrinksTheGradientsLimit() {
        var limit = AdaptiveLimit(.init(.gradient2(.init()), initial: 100))
        run(&limit, windows: 1, latency: .milliseconds(1), drops: true)
        #expect(abs(limit.estimate - 90) < 1e-9)
        // All are dropped.
        for sample in 0...10 {
            limit.requestEnded(
                latency: .zero, inFlight: 90, isDropped: true, now: .seconds(5) + .milliseconds(sample * 100))
        }
        #expect(abs(limit.estimate - 81) < 1e-9)
        var other = AdaptiveLimit(.init(.gradient2(.init(dropBackoff: 1)), initial: 100))
        run(&other, windows: 1, latency: .milliseconds(1), drops: true)
        #expect(abs(other.estimate - 100.8) < 1e-9)
    }

    @Test func aWindowNeedsTimeAndSamples() {
        var limit = AdaptiveLimit(.init(.aimd(.init())))
        func sample(_ milliseconds: Int, drops: Bool = false) -> Bool {
            limit.requestEnded(
                latency: .milliseconds(1), inFlight: 20, isDropped: drops, now: .milliseconds(milliseconds))
        }
        for time in 0..<100 { #expect(sample(time) == false) }
        #expect(limit.limit == 20)
        #expect(sample(1000) == true)
        #expect(limit.limit == 21)
        for time in 0..<9 { #expect(sample(10_000 + time * 1000) == false) }
        #expect(sample(19_000) == true)
        // A drop needs no ten samples.
        #expect(sample(20_000, drops: true) == false)
        #expect(sample(21_000, drops: true) == true)
        // 22 x 0.9, and the lower bound.
        #expect(limit.limit == 20)
    }

    @Test func settingsAreClamped() {
        let aimd = AdaptiveLimit.AIMD(backoff: .nan, timeout: .seconds(-1))
        #expect(aimd.backoff == 0.9 && aimd.timeout == .zero)
        #expect(AdaptiveLimit.AIMD(backoff: .infinity).backoff == 0.99)
        let gradient = AdaptiveLimit.Gradient2(
            queueSize: -1, tolerance: -.infinity, smoothing: .nan, longWindow: .min, dropBackoff: .nan)
        #expect(gradient == .init(queueSize: 0, tolerance: 1, smoothing: 0.2, longWindow: 1, dropBackoff: 0.9))
        let settings = AdaptiveLimit.Settings(
            initial: .max, bounds: .min ... .max, window: .seconds(-1), minimumSamples: .min)
        #expect(settings.bounds == 1...1_000_000)
        #expect(settings.initial == 1_000_000)
        #expect(settings.window == .milliseconds(100))
        #expect(settings.minimumSamples == 1)
    }

    /// Whatever comes in, the limit stays within its bounds.
    @Test(arguments: 0..<10)
    func randomSamples(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let algorithms: [AdaptiveLimit.Algorithm] = [.aimd(.init()), .gradient2(.init(smoothing: 1, longWindow: 3))]
        let bounds = seed % 3 == 0 ? 1...1 : 3...50
        var limit = AdaptiveLimit(.init(algorithms[Int(seed % 2)], initial: 10, bounds: bounds, minimumSamples: 2))
        let latencies: [Duration] = [
            .zero, .seconds(-5), .seconds(Int64.max), .milliseconds(1), .seconds(3), .seconds(Int64.min),
            .nanoseconds(1),
        ]
        var now = Duration.seconds(Int64.min)
        for _ in 0..<3000 {
            limit.requestEnded(
                latency: latencies[Int.random(in: 0..<latencies.count, using: &random)],
                inFlight: [Int.min, 0, 5, 60, .max][Int.random(in: 0..<5, using: &random)],
                isDropped: Int.random(in: 0..<9, using: &random) == 0, now: now)
            #expect(bounds.contains(limit.limit))
            switch Int.random(in: 0..<100, using: &random) {
            case 0: now = .seconds(Int64.max)
            case 1: now = .zero
            default: now = min(now, .seconds(1 << 40)) + .milliseconds(300)
            }
        }
    }
}
