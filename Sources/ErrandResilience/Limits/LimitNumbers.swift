/// Numbers from outside, made safe: no value of a setting, a header field or a clock makes a part trap or hang.
package enum LimitNumbers {
    /// A span of time from 0 to 68 years.
    package static func span(_ value: Duration) -> Duration {
        min(max(.zero, value), .longestSleep)
    }

    /// A point of a monotonic clock, at most 2^50 seconds from its zero. Sums of it and a ``span(_:)`` cannot overflow.
    package static func time(_ value: Duration) -> Duration {
        min(max(.seconds(-(1 << 50)), value), .seconds(1 << 50))
    }

    /// A point of time after a span.
    package static func time(_ start: Duration, after span: Duration) -> Duration {
        time(time(start) + self.span(span))
    }

    /// A whole number within bounds.
    package static func count(_ value: Int, _ bounds: ClosedRange<Int>) -> Int {
        min(max(bounds.lowerBound, value), bounds.upperBound)
    }

    /// A number within bounds; `fallback` instead of NaN.
    package static func number(_ value: Double, _ bounds: ClosedRange<Double>, else fallback: Double) -> Double {
        value.isNaN ? fallback : min(max(bounds.lowerBound, value), bounds.upperBound)
    }

    /// A span in seconds.
    package static func seconds(_ span: Duration) -> Double {
        let parts = span.components
        return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
    }

    /// Seconds as a span from 0 to 68 years; 0 for NaN.
    package static func span(seconds: Double) -> Duration {
        guard seconds > 0 else { return .zero }
        return seconds >= Double(1 << 31) ? .longestSleep : .seconds(seconds)
    }
}
