/// How long a user waits between two requests: ``LoadUser/think(_:)``.
public enum ThinkTime: Sendable, Hashable {
    /// Always the same time.
    case fixed(Duration)
    /// Evenly distributed, by the plan's seed.
    case uniform(ClosedRange<Duration>)
    /// Exponentially distributed around this mean, by the plan's seed; at most ten times the mean.
    case exponential(mean: Duration)

    /// A fixed time in seconds.
    public static func seconds(_ seconds: Double) -> ThinkTime { .fixed(.seconds(seconds)) }
    /// A fixed time in milliseconds.
    public static func milliseconds(_ milliseconds: Double) -> ThinkTime { .fixed(.milliseconds(milliseconds)) }

    /// A time that is drawn with `random`.
    package func draw(_ random: inout LoadRandom) -> Duration {
        switch self {
        case .fixed(let time): max(.zero, time)
        case .uniform(let range):
            max(.zero, range.lowerBound + (range.upperBound - range.lowerBound) * random.unit())
        case .exponential(let mean): max(.zero, mean * min(10, random.exponential()))
        }
    }
}
