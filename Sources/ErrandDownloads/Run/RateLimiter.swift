/// A token bucket in which bytes are paid for after they were received. Pure; the caller has the clock.
struct RateLimiter {
    private let bytesPerSecond: Double
    /// When all received bytes are paid for.
    private var paid: Duration = .zero

    /// Unused time counts as credit for at most this duration.
    private static let credit = Duration.milliseconds(100)

    init(bytesPerSecond: Int) {
        self.bytesPerSecond = Double(max(1, bytesPerSecond))
    }

    /// `count` bytes were received. Returns when the same number may be requested again.
    mutating func take(_ count: Int, now: Duration) -> Duration {
        paid = max(paid, now - Self.credit) + .seconds(Double(max(0, count)) / bytesPerSecond)
        return max(paid, now)
    }
}
