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
        /// When the permits may be used, unless a pause moves them.
        let time: Duration
        /// The TAT after the reservation, unless a pause moves it.
        let fullAt: Duration
        /// By how much pauses had moved the permits of the key before.
        var moved = Duration.zero
        /// The number of the key's lane; 0: there was none. A key that is forgotten meanwhile gets another one.
        var lane: UInt64 = 0
    }

    enum Answer: Sendable, Hashable {
        /// The permits may be used at the reservation's time, which is now or later.
        case granted(Reservation)
        case refused(LimitRefusal.Reason, retryAfter: Duration?)
    }

    /// What a request that has waited for its permits does next.
    enum Due: Sendable, Hashable {
        /// Uses the permits.
        case usable
        /// Waits until this time: a pause has moved the permits, or the timer was early.
        case waits(until: Duration)
        /// Is refused: a pause has moved the permits beyond the deadline. They came back.
        case refused(retryAfter: Duration)
    }

    private struct Lane: Sendable {
        let number: UInt64
        var state: State
        /// By how much pauses have moved permits that were taken for later.
        var moved = Duration.zero
        /// The permits that were taken for later and are not usable yet, by the times that they would have without moves.
        var later = PermitTimes()

        /// Permits were taken that are usable at a later time.
        mutating func permitsTaken(for time: Duration, now: Duration) {
            later.removeAll(through: now - moved)
            later.add(time - moved)
        }

        /// A pause begins, or becomes longer. Moves the permits that were taken for later: the first of them is usable at
        /// the end of the pause, and the others keep their distances. Returns by how much.
        mutating func move(toEnd end: Duration, now: Duration) -> Duration {
            later.removeAll(through: now - moved)
            guard let first = later.first else { return .zero }
            let move = max(.zero, end - (first + moved))
            moved += move
            return move
        }
    }

    let settings: Settings
    /// The time of one permit, and that of the whole burst.
    private let interval: Duration
    private let tolerance: Duration
    private var lanes: [String: Lane] = [:]
    private var lastLane: UInt64 = 0
    private(set) var counts = RateLimit.Counts()

    init(_ settings: Settings) {
        self.settings = settings
        interval = settings.rate.map { ($0.period / $0.permits).clampedWait } ?? .zero
        tolerance = (interval * settings.burst).clampedWait
    }

    // MARK: Reading

    func state(of key: String) -> State? { lanes[key]?.state }
    var keyCount: Int { lanes.count }

    /// When the pause of the key ends; `nil`: it is not paused.
    func pauseEnd(of key: String, now: Duration) -> Duration? {
        if case .paused(let until, _)? = lanes[key]?.state, until > now.clampedTime { until } else { nil }
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
        switch lanes[key]?.state {
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
        if count > 0, interval > .zero {
            store(key, fullAt: next, now: now)
            if time > now { lanes[key]?.permitsTaken(for: time, now: now) }
        }
        let lane = lanes[key]
        return .granted(
            Reservation(
                key: key, count: count, time: time, fullAt: next, moved: lane?.moved ?? .zero, lane: lane?.number ?? 0))
    }

    /// The request of a reservation has waited until its time. It may wait until `deadline` at most.
    mutating func reservationDue(_ reservation: Reservation, deadline: Duration, now: Duration) -> Due {
        let now = now.clampedTime
        let due = (reservation.time + move(since: reservation)).clampedTime
        let usable = max(due, pauseEnd(of: reservation.key, now: now) ?? due)
        guard usable > now else { return .usable }
        guard usable > deadline.clampedTime else { return .waits(until: usable) }
        giveBack(reservation, now: now)
        counts.refused += 1
        return .refused(retryAfter: usable - now)
    }

    /// A reservation was not used. Gives its permits back, except those that later reservations were counted on (as
    /// `Reservation.CancelAt` of Go's `x/time/rate`).
    mutating func reservationCancelled(_ reservation: Reservation, now: Duration) {
        counts.cancelled += 1
        giveBack(reservation, now: now.clampedTime)
    }

    private mutating func giveBack(_ reservation: Reservation, now: Duration) {
        let key = reservation.key
        let move = move(since: reservation)
        guard reservation.time + move > now, reservation.count > 0, lanes[key]?.number == reservation.lane else {
            return
        }
        lanes[key]?.later.remove(reservation.time - reservation.moved)
        let later = max(.zero, fullAt(of: key) - (reservation.fullAt + move))
        let back = interval * reservation.count - later
        guard back > .zero else { return }
        store(key, fullAt: fullAt(of: key) - back, now: now)
    }

    /// A response reported the server's limits. If there are several pauses, the one that ends last applies. Permits
    /// that were taken for later move with the pause, so that the waiting requests go on in their order, and pay once.
    /// No request goes later than the pause demands. If the first of them would go after the end of the pause anyway,
    /// or if none waits, nothing moves.
    mutating func serverAnswered(_ pause: Duration, of key: String, now: Duration) {
        let span = min(pause.clampedWait, settings.longestPause)
        guard span > .zero else { return }
        let now = now.clampedTime
        let until = max(now.clampedTime(plus: span), pauseEnd(of: key, now: now) ?? now)
        counts.pauses += 1
        let full = max(fullAt(of: key), now)
        let move = lanes[key]?.move(toEnd: until, now: now) ?? .zero
        enter(.paused(until: until, fullAt: full.clampedTime(plus: move)), of: key, now: now)
    }

    /// The pause of a key was ended from outside.
    mutating func pauseEnded(of key: String) {
        guard case .paused(_, let fullAt)? = lanes[key]?.state else { return }
        lanes[key]?.state = .flowing(fullAt: fullAt)
    }

    /// By how much pauses have moved the permits of a reservation. Those of a key that was forgotten since do not move.
    private func move(since reservation: Reservation) -> Duration {
        guard let lane = lanes[reservation.key], lane.number == reservation.lane else { return .zero }
        return lane.moved - reservation.moved
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
        let until = pauseEnd(of: key, now: now)
        let state = until.map { State.paused(until: $0, fullAt: fullAt) } ?? .flowing(fullAt: fullAt)
        enter(state, of: key, now: now)
    }

    /// The key is in this state now. An unknown key gets a lane.
    private mutating func enter(_ state: State, of key: String, now: Duration) {
        guard lanes[key] == nil else {
            lanes[key]?.state = state
            return
        }
        makeRoom(now)
        lastLane += 1
        lanes[key] = Lane(number: lastLane, state: state)
    }

    /// Removes the keys with a full bucket, which are the same as unknown keys. If these are too few, removes the keys
    /// whose buckets are full first: they begin anew with a full bucket, and earlier reservations stay as they are.
    private mutating func makeRoom(_ now: Duration) {
        let end = { (lane: Lane) in
            switch lane.state {
            case .flowing(let fullAt): fullAt
            case .paused(let until, let fullAt): max(until, fullAt)
            }
        }
        lanes.makeRoom(capacity: settings.keyCapacity, order: end, isOver: { end($0) <= now })
    }
}
