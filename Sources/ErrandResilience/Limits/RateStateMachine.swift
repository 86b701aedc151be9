/// A token bucket for each key in the form of GCRA, and the pauses that servers ask for.
///
/// GCRA has one number for a bucket: the theoretical arrival time (TAT), at which the bucket is full again. A permit
/// moves the TAT by `T`, the time of one permit, and may be used from `TAT - burst x T` on.
struct RateStateMachine: Sendable {
    typealias Settings = RateLimit.Settings

    enum State: Sendable, Hashable {
        /// Permits are given out by the rate.
        case flowing(fullAt: Duration)
        /// The server has asked for a pause; permits begin at its end.
        case paused(until: Duration, fullAt: Duration)
    }

    /// Permits that were taken, to be used from a time on.
    struct Reservation: Sendable, Hashable {
        let key: String
        let count: Int
        /// When the permits may be used.
        let time: Duration
        /// The TAT after the reservation.
        let fullAt: Duration
    }

    enum Answer: Sendable, Hashable {
        /// The permits may be used at the reservation's time, which is now or later.
        case granted(Reservation)
        case refused(LimitRefusal.Reason, retryAfter: Duration?)
    }

    let settings: Settings
    /// The time of one permit, and that of the whole burst.
    private let interval: Duration
    private let tolerance: Duration
    private var lanes: [String: State] = [:]
    private(set) var counts = RateLimit.Counts()

    init(_ settings: Settings) {
        self.settings = settings
        interval = settings.rate.map { ($0.period / $0.permits).clampedWait } ?? .zero
        tolerance = (interval * settings.burst).clampedWait
    }

    // MARK: Reading

    func state(of key: String) -> State? { lanes[key] }
    var keyCount: Int { lanes.count }

    /// When the pause of the key ends; `nil`: it is not paused.
    func pauseEnd(of key: String, now: Duration) -> Duration? {
        if case .paused(let until, _)? = lanes[key], until > now.clampedTime { until } else { nil }
    }

    /// The permits that may be used at once.
    func available(of key: String, now: Duration) -> Int {
        let now = now.clampedTime
        guard pauseEnd(of: key, now: now) == nil else { return 0 }
        guard interval > .zero else { return .max }
        let debt = max(.zero, fullAt(of: key) - now)
        guard tolerance > debt else { return 0 }
        // The quotient of doubles may be a little below a whole number.
        return Int((tolerance - debt) / interval + 1e-9).clamped(0...settings.burst)
    }

    private func fullAt(of key: String) -> Duration {
        switch lanes[key] {
        case nil: Duration.seconds(Int64.min).clampedTime
        case .flowing(let time)?, .paused(_, let time)?: time
        }
    }

    // MARK: Events

    /// A request needs `count` permits and may wait for them until `deadline`. Permits for later are taken at once, so
    /// that requests wait in their order. A request for more permits than the burst is refused.
    mutating func permitsRequested(_ count: Int, of key: String, deadline: Duration, now: Duration) -> Answer {
        let now = now.clampedTime
        let count = max(0, count)
        guard settings.rate == nil || count <= settings.burst else { return refuse(.rateExceeded, nil, key, now) }
        let pauseEnd = pauseEnd(of: key, now: now)
        let begin = max(now, pauseEnd ?? now)
        let next = max(fullAt(of: key), begin).clampedTime(plus: interval * min(count, settings.burst))
        let time = max(begin, next - tolerance)
        if time > now {
            counts.delayed += 1
            guard settings.isDryRun || time <= deadline.clampedTime else {
                counts.delayed -= 1
                return refuse(pauseEnd == nil ? .rateExceeded : .pausedByServer, time - now, key, now)
            }
        }
        if settings.isDryRun, time > now {
            counts.delayed -= 1
            if time <= deadline.clampedTime { counts.wouldDelay += 1 } else { counts.wouldRefuse += 1 }
            // The bucket of a limit that lets everything through stays empty, without a debt.
            counts.granted += 1
            return .granted(Reservation(key: key, count: 0, time: now, fullAt: fullAt(of: key)))
        }
        counts.granted += 1
        if count > 0, interval > .zero { store(key, fullAt: next, now: now) }
        return .granted(Reservation(key: key, count: count, time: time, fullAt: next))
    }

    /// A reservation was not used. Gives its permits back, except those that later reservations were counted on (as
    /// `Reservation.CancelAt` of Go's `x/time/rate`).
    mutating func reservationCancelled(_ reservation: Reservation, now: Duration) {
        counts.cancelled += 1
        let now = now.clampedTime
        guard reservation.time > now, reservation.count > 0, lanes[reservation.key] != nil else { return }
        let later = max(.zero, fullAt(of: reservation.key) - reservation.fullAt)
        let back = interval * reservation.count - later
        guard back > .zero else { return }
        store(reservation.key, fullAt: fullAt(of: reservation.key) - back, now: now)
    }

    /// A response told of the server's limits. Of several pauses the one that ends last applies.
    mutating func serverAnswered(_ pause: Duration, of key: String, now: Duration) {
        let span = min(pause.clampedWait, settings.longestPause)
        guard span > .zero else { return }
        let now = now.clampedTime
        let until = max(now.clampedTime(plus: span), pauseEnd(of: key, now: now) ?? now)
        counts.pauses += 1
        if lanes[key] == nil { makeRoom(now) }
        lanes[key] = .paused(until: until, fullAt: max(fullAt(of: key), now))
    }

    /// The pause of a key was ended from outside.
    mutating func pauseEnded(of key: String) {
        guard case .paused(_, let fullAt)? = lanes[key] else { return }
        lanes[key] = .flowing(fullAt: fullAt)
    }

    // MARK: Lanes

    private mutating func refuse(
        _ reason: LimitRefusal.Reason, _ retryAfter: Duration?, _ key: String, _ now: Duration
    ) -> Answer {
        guard settings.isDryRun else {
            counts.refused += 1
            return .refused(reason, retryAfter: retryAfter)
        }
        counts.wouldRefuse += 1
        counts.granted += 1
        return .granted(Reservation(key: key, count: 0, time: now, fullAt: fullAt(of: key)))
    }

    private mutating func store(_ key: String, fullAt: Duration, now: Duration) {
        if lanes[key] == nil { makeRoom(now) }
        if let until = pauseEnd(of: key, now: now) {
            lanes[key] = .paused(until: until, fullAt: fullAt)
        } else {
            lanes[key] = .flowing(fullAt: fullAt)
        }
    }

    /// Keys with a full bucket are as unknown ones. Beside them the keys go that are full again first: those begin anew
    /// with a full bucket.
    private mutating func makeRoom(_ now: Duration) {
        let end = { (state: State) in
            switch state {
            case .flowing(let fullAt): fullAt
            case .paused(let until, let fullAt): max(until, fullAt)
            }
        }
        lanes.makeRoom(capacity: settings.keyCapacity, order: end, isOver: { end($0) <= now })
    }
}
