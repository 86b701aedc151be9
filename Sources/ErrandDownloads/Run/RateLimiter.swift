/// A token bucket in which bytes are paid for after they came: pure, its clock is the caller's.
struct RateLimiter {
    private let bytesPerSecond: Double
    /// When everything that came is paid for.
    private var paid: Duration = .zero

    /// Time that nobody used is good for so much later.
    private static let credit = Duration.milliseconds(100)

    init(bytesPerSecond: Int) {
        self.bytesPerSecond = Double(max(1, bytesPerSecond))
    }

    /// So many bytes came: when as many more may be asked for.
    mutating func take(_ count: Int, now: Duration) -> Duration {
        paid = max(paid, now - Self.credit) + .seconds(Double(max(0, count)) / bytesPerSecond)
        return max(paid, now)
    }
}
