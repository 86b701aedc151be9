import Glibc

/// How long a ``ChaosTransport`` holds an answer back. A pure value.
public enum LatencyDistribution: Sendable, Hashable {
    /// Not at all.
    case none
    /// Always the same time.
    case fixed(Duration)
    /// Any time in the range, all equally likely.
    case uniform(ClosedRange<Duration>)
    /// Times of a Poisson process: most are short, a few are long.
    case exponential(mean: Duration)
    /// Half of the times are below `median`, and one in a hundred is above `p99`, as with real services.
    case logNormal(median: Duration, p99: Duration)

    /// The longest time that is drawn: an hour.
    private static let longest = Duration.seconds(3600)

    /// The time that two numbers in 0..<1 give.
    func time(_ first: Double, _ second: Double) -> Duration {
        let time: Duration =
            switch self {
            case .none: .zero
            case .fixed(let time): time
            case .uniform(let range): range.lowerBound + (range.upperBound - range.lowerBound) * first
            case .exponential(let mean): mean * min(-log(1 - first), 1e3)
            case .logNormal(let median, let p99): median * Self.factor(first, second, spread: p99 / median)
            }
        return min(max(time, .zero), Self.longest)
    }

    /// The factor by which the median is multiplied. `spread`: the factor of the 99th percentile.
    private static func factor(_ first: Double, _ second: Double, spread: Double) -> Double {
        guard spread.isFinite, spread > 1 else { return 1 }
        // Box and Muller; 2.326 is the 99th percentile of the normal distribution.
        let normal = sqrt(-2 * log(1 - first)) * cos(2 * Double.pi * second)
        return min(exp(normal * log(spread) / 2.326_347_874), 1e6)
    }
}
