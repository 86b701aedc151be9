/// Gives a download's transfers leave to go on, at once or at a rate. On the file queue alone.
struct DownloadPace {
    private struct Grant {
        let transfer: DownloadTransfer
        let bytes: Int
        let due: Duration
    }

    private var limiter: RateLimiter?
    private var waiting: [Grant] = []
    private var timer: Task<Void, Never>?

    /// What is due within that time is given together: a timer for each 16 KiB would cost more than it is worth.
    private static let slice = Duration.milliseconds(5)

    init(_ rate: Int?) {
        limiter = rate.map(RateLimiter.init(bytesPerSecond:))
    }

    /// So many bytes of that transfer were written. Answers how many more it may send now.
    mutating func wrote(_ bytes: Int, of transfer: DownloadTransfer, now: Duration) -> Int {
        guard let due = limiter?.take(bytes, now: now), due > now else { return bytes }
        waiting.append(Grant(transfer: transfer, bytes: bytes, due: due))
        return 0
    }

    /// How long to sleep before `due`; `nil` where a timer runs, or nothing waits.
    func sleep(now: Duration) -> Duration? {
        guard timer == nil, let first = waiting.first else { return nil }
        return max(first.due - now, Self.slice)
    }

    mutating func slept(by timer: Task<Void, Never>) {
        self.timer = timer
    }

    /// The timer is over: what may be given.
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
