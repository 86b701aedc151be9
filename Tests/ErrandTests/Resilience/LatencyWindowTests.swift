import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

@Suite struct LatencyWindowTests {
    @Test func percentilesOfAHundred() {
        var window = LatencyWindow(span: .seconds(60))
        #expect(window.percentile(0.5, now: .zero) == nil)
        for millisecond in (1...100).shuffled() { window.recorded(.milliseconds(millisecond), .success, now: .zero) }
        for (share, milliseconds) in [(0.0, 1), (0.5, 50), (0.95, 95), (0.99, 99), (1, 100)] {
            let value = window.percentile(share, now: .zero) ?? .zero
            #expect(value >= .milliseconds(milliseconds) && value <= .milliseconds(milliseconds) * 17 / 16)
        }
        #expect(window.percentile(0.5, minimumSamples: 100, now: .zero) != nil)
        #expect(window.percentile(0.5, minimumSamples: 101, now: .zero) == nil)
    }

    /// A host that fails fast does not look fast.
    @Test func fastFailuresAreNoSamples() {
        var window = LatencyWindow(span: .seconds(60))
        for sample in LatencySample.allCases {
            window.recorded(.milliseconds(5), sample, now: .zero)
        }
        #expect(window.count == 3)
        for _ in 0..<1000 { window.recorded(.zero, .failure, now: .zero) }
        #expect(window.count == 3)
    }

    @Test func agesOutOfRangeAreClamped() {
        var window = LatencyWindow(span: .zero)
        for now in [Duration.seconds(Int64.min), .seconds(Int64.max), .zero] {
            window.recorded(.seconds(-1), .success, now: now)
            window.recorded(.seconds(Int64.max), .timeout, now: now)
        }
        #expect(window.count == 4)
        #expect(window.percentile(0, now: .zero) == .zero)
        let longest = window.percentile(.nan, now: .zero) ?? .zero
        #expect(longest >= .seconds(3600) && longest <= .seconds(3600) * 17 / 16)
    }

    /// Against the sorted samples of the windows that are left.
    @Test(arguments: 0..<10 as Range<UInt64>)
    func randomWalks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var window = LatencyWindow(span: .seconds(60))
        var history: [(window: Int, microseconds: Int)] = []
        var second = Int.random(in: -500...500, using: &random)
        for _ in 0..<3000 {
            second += Int.random(in: 0..<400, using: &random) == 0 ? 45 : Int.random(in: 0..<20, using: &random) / 19
            var scale = 1
            for _ in 0..<Int.random(in: 1...6, using: &random) { scale *= 10 }
            let microseconds = Int.random(in: 0...scale, using: &random)
            window.recorded(.microseconds(microseconds), .success, now: .seconds(second))
            let place = Int((Double(second) / 10).rounded(.down))
            history.append((place, microseconds))
            history.removeAll { $0.window <= place - 6 }
            #expect(window.count == history.count)
            guard Int.random(in: 0..<50, using: &random) == 0 else { continue }
            let sorted = history.map(\.microseconds).sorted()
            for share in [0.1, 0.5, 0.9, 0.99] {
                let rank = max(1, Int((Double(sorted.count) * share).rounded(.up)))
                let exact = Duration.microseconds(sorted[rank - 1])
                let value = window.percentile(share, now: .seconds(second)) ?? .zero
                #expect(value >= exact && value <= exact + exact / 16)
            }
        }
    }
}
