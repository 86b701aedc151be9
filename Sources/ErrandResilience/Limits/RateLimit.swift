import Synchronization

/// A limit of the rate of requests for each key, such as an origin: a token bucket with a burst. Obeys the pauses that
/// servers ask for. Any thread.
///
/// ```swift
/// let limit = RateLimit(.init(rate: .init(50, per: .seconds(1)), burst: 10))
/// try await limit.wait("https://api.test:443", atMost: .seconds(5))
/// ...
/// limit.serverAnswered("https://api.test:443", ServerRateLimit(fields, status: status, date: date))
/// ```
///
/// Waiting requests take their permits in the order of arrival and wait without a thread. A pause that begins meanwhile
/// delays them, but keeps their order and the times between them. Source: GCRA (ATM Forum), as in redis-cell.
public final class RateLimit: Sendable {
    /// A number of permits in a period, evenly spread.
    public struct Rate: Sendable, Hashable {
        /// The permits of a period, 1...1,000,000,000.
        public let permits: Int
        /// The period, at least one microsecond for each permit.
        public let period: Duration

        /// Makes a rate. Numbers out of range are clamped.
        public init(_ permits: Int, per period: Duration) {
            self.permits = permits.clamped(1...1_000_000_000)
            self.period = max(period.clampedWait, .microseconds(self.permits))
        }
    }

    /// The settings. Numbers out of range are clamped.
    public struct Settings: Sendable, Hashable {
        /// The rate of a key; `nil`: only the servers' pauses apply.
        public let rate: Rate?
        /// The permits of a full bucket, which may be used at once; 1 by default, 1...1,000,000.
        public let burst: Int
        /// How long a request waits at most; 30 s by default.
        public let longestWait: Duration
        /// The longest pause that a server can cause; 5 minutes by default. A longer one is shortened to this.
        public let longestPause: Duration
        /// How many keys are remembered; 4096 by default. Beyond that, the keys whose buckets are full first are
        /// forgotten. A forgotten key begins anew: with a full bucket, and without a pause. Requests that wait for a
        /// forgotten key go at the times that they had when they began to wait, and give nothing back.
        public let keyCapacity: Int
        /// If true, every request is let through at once, and ``Counts/wouldDelay`` and ``Counts/wouldRefuse`` tell
        /// what the limit would have done. False by default.
        public let isDryRun: Bool

        /// Makes the settings.
        public init(
            rate: Rate?, burst: Int = 1, longestWait: Duration = .seconds(30), longestPause: Duration = .seconds(300),
            keyCapacity: Int = 4096, isDryRun: Bool = false
        ) {
            self.rate = rate
            self.burst = burst.clamped(1...1_000_000)
            self.longestWait = longestWait.clampedWait
            self.longestPause = longestPause.clampedWait
            self.keyCapacity = keyCapacity.clamped(1...1_000_000)
            self.isDryRun = isDryRun
        }

        /// No rate, and no pauses of servers. If a command chooses it (``Command/resilience``), it has no limit.
        public static let unlimited = Settings(rate: nil, longestPause: .zero)
    }

    /// What has happened so far, for all keys. No number ever decreases. A request whose permits come back therefore
    /// stays in ``granted`` and ``delayed``, and is counted again in ``cancelled`` or ``refused``.
    public struct Counts: Sendable, Hashable {
        /// Requests that got their permits, at once or for later.
        public internal(set) var granted = 0
        /// Those of them that had to wait.
        public internal(set) var delayed = 0
        /// Requests that were refused: at once, or after a wait because a pause had moved their permits too far.
        public internal(set) var refused = 0
        /// Reservations that were given back.
        public internal(set) var cancelled = 0
        /// Pauses that servers have caused.
        public internal(set) var pauses = 0
        /// In a dry run: requests that would have had to wait.
        public internal(set) var wouldDelay = 0
        /// In a dry run: requests that would have been refused.
        public internal(set) var wouldRefuse = 0
    }

    /// Permits that were taken and become usable after a delay. Use it, or give it back with
    /// ``RateLimit/cancel(_:)``.
    public struct Reservation: Sendable, Hashable {
        let inner: RateStateMachine.Reservation
        /// The time from the reservation until the permits may be used; zero: at once. A pause that begins later is not
        /// included.
        public let delay: Duration
        /// Shared by the copies of a reservation. `nil` without a delay: such permits are not given back.
        fileprivate let mark: CancellationMark?
    }

    /// Whether a reservation was cancelled.
    fileprivate final class CancellationMark: Sendable, Hashable {
        let isSet = Atomic(false)

        static func == (left: CancellationMark, right: CancellationMark) -> Bool { left === right }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    /// The settings of every key.
    public let settings: Settings
    private let machine: Mutex<RateStateMachine>
    private let stopwatch: Stopwatch

    /// Makes a limit. `clock`: a monotonic clock.
    public init(_ settings: Settings, clock: any Clock<Duration> = ContinuousClock()) {
        self.settings = settings
        machine = Mutex(RateStateMachine(settings))
        stopwatch = Stopwatch(clock)
    }

    /// Takes permits that are usable after at most `wait`; `nil`: ``Settings/longestWait``. Does not wait itself.
    /// Throws ``LimitRefusal`` with the reasons `rateExceeded` and `pausedByServer`.
    public func reserve(
        _ key: String, permits: Int = 1, waitingAtMost wait: Duration? = nil
    ) throws(LimitRefusal) -> Reservation {
        let now = stopwatch.now()
        let deadline = now.clampedTime(plus: min(wait ?? settings.longestWait, settings.longestWait))
        switch machine.withLock({ $0.permitsRequested(permits, of: key, deadline: deadline, now: now) }) {
        case .granted(let reservation):
            let delay = max(.zero, reservation.time - now)
            return Reservation(inner: reservation, delay: delay, mark: delay > .zero ? CancellationMark() : nil)
        case .refused(let reason, let retryAfter): throw LimitRefusal(reason, key: key, retryAfter: retryAfter)
        }
    }

    /// Gives back permits that were not used. A second call for a reservation, and a call after its delay, do nothing.
    public func cancel(_ reservation: Reservation) {
        guard let mark = reservation.mark, !mark.isSet.exchange(true, ordering: .relaxed) else { return }
        let now = stopwatch.now()
        machine.withLock { $0.reservationCancelled(reservation.inner, now: now) }
    }

    /// Takes permits and returns when they may be used. A pause that begins meanwhile delays the permits: the first of
    /// the waiting requests goes at the end of the pause, and the others follow in their order, with the same times
    /// between them.
    ///
    /// Throws ``LimitRefusal`` at once if the permits become usable only after `wait` (`nil`:
    /// ``Settings/longestWait``). If a pause delays them that far, throws it at the time at which they would have been
    /// usable without the pause. Throws `CancellationError` if the task is cancelled; the permits are given back.
    public func wait(_ key: String, permits: Int = 1, atMost wait: Duration? = nil) async throws {
        try Task.checkCancellation()
        let reservation = try reserve(key, permits: permits, waitingAtMost: wait)
        try await self.wait(key, for: reservation, atMost: wait)
    }

    /// Waits until the permits of a reservation may be used, as ``wait(_:permits:atMost:)`` does.
    func wait(_ key: String, for reservation: Reservation, atMost wait: Duration? = nil) async throws {
        let deadline = stopwatch.now().clampedTime(plus: min(wait ?? settings.longestWait, settings.longestWait))
        var delay = reservation.delay
        while delay > .zero {
            do {
                try await stopwatch.sleep(for: min(delay, .longestSleep))
            } catch {
                cancel(reservation)
                throw error
            }
            let now = stopwatch.now()
            switch machine.withLock({ $0.reservationDue(reservation.inner, deadline: deadline, now: now) }) {
            case .usable: return
            case .waits(let time): delay = time - now
            case .refused(let retryAfter): throw LimitRefusal(.pausedByServer, key: key, retryAfter: retryAfter)
            }
        }
    }

    /// Takes what a response says about the server's limits: the key is paused for ``ServerRateLimit/pause``.
    public func serverAnswered(_ key: String, _ answer: ServerRateLimit) {
        pause(key, for: answer.pause)
    }

    /// Pauses a key; an earlier pause that ends later stays. At most ``Settings/longestPause``.
    public func pause(_ key: String, for span: Duration) {
        let now = stopwatch.now()
        machine.withLock { $0.serverAnswered(span, of: key, now: now) }
    }

    /// Ends the pause of a key. Requests that already wait keep the times to which the pause has moved them.
    public func resume(_ key: String) {
        machine.withLock { $0.pauseEnded(of: key) }
    }

    /// The permits of a key that may be used at once.
    public func available(_ key: String) -> Int {
        let now = stopwatch.now()
        return machine.withLock { $0.available(of: key, now: now) }
    }

    /// What has happened so far.
    public var counts: Counts { machine.withLock { $0.counts } }
}
