import DequeModule

/// Grants credit to a download's transfers, at once or at a rate. Used on the file queue only.
struct DownloadPace {
    private struct Grant {
        let transfer: DownloadTransfer
        let bytes: Int
        let due: Duration
    }

    private var limiter: RateLimiter?
    private var waiting: Deque<Grant> = []
    private var timer: Task<Void, Never>?

    /// Credit that becomes due within this time is granted together: a timer for each 16 KiB would cost too much.
    private static let slice = Duration.milliseconds(5)

    init(_ rate: Int?) {
        limiter = rate.map(RateLimiter.init(bytesPerSecond:))
    }

    /// The transfer wrote `bytes`. Returns the credit to grant now.
    mutating func wrote(_ bytes: Int, of transfer: DownloadTransfer, now: Duration) -> Int {
        guard let due = limiter?.take(bytes, now: now), due > now else { return bytes }
        waiting.append(Grant(transfer: transfer, bytes: bytes, due: due))
        return 0
    }

    /// How long to sleep before `due`; `nil` if a timer runs already or no credit waits.
    func sleep(now: Duration) -> Duration? {
        guard timer == nil, let first = waiting.first else { return nil }
        return max(first.due - now, Self.slice)
    }

    mutating func slept(by timer: Task<Void, Never>) {
        self.timer = timer
    }

    /// The timer fired: returns the credit to grant.
    mutating func due(now: Duration) -> [(transfer: DownloadTransfer, bytes: Int)] {
        timer = nil
        let count = waiting.prefix { $0.due <= now + Self.slice }.count
        let due = waiting.prefix(count).map { ($0.transfer, $0.bytes) }
        waiting.removeFirst(count)
        return due
    }

    mutating func end() {
        timer?.cancel()
        timer = nil
        waiting = []
    }
}

/// A token bucket in which bytes are paid for after they were received. Pure; the caller passes the time.
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
