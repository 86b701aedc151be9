import Histogram
import Synchronization

/// Hands out requests and counts how they end. All engines call it, from any thread.
///
/// A request's latency starts at the time in its ticket. In a closed loop that is the submission. At a fixed rate it is
/// the intended send time, so that a stalled server cannot hide the requests that could not be sent meanwhile. Requests
/// that were due and have no response when the run is over count with the time that they waited.
final class BenchLoad: Sendable {
    struct Ticket: Sendable {
        let time: UInt64
    }

    private enum Phase {
        case warmingUp
        case measuring(from: ProcessUsage)
        /// No more tickets are handed out. Requests in flight may still end until the limit, and are then cancelled.
        /// `from` is `nil` if nothing was measured.
        case draining(from: ProcessUsage?, until: UInt64)
        case done(from: ProcessUsage?, to: ProcessUsage)
    }

    private struct State: Sendable {
        var phase = Phase.warmingUp
        var started: UInt64 = 0
        var ended: UInt64 = 0
        /// The part of `ended` that belongs to the warm-up.
        var warmed: UInt64 = 0
        var result = Result()
        var waiter: CheckedContinuation<Void, Never>?
        var isInterrupted = false
        /// The requests in flight are being cancelled.
        var isCut = false
        /// The start of an open loop's schedule: first the start of the warm-up, then the start of the measured part.
        var origin: UInt64
        /// The part of `started` that belongs to the warm-up; set when the measured part begins.
        var startedBefore: UInt64 = 0
        /// The end of the measured part, before the wait for requests still in flight.
        var measured: Measured?
    }

    /// The measured part of a run, without the drain phase.
    struct Measured: Sendable {
        let end: UInt64
        let answered: UInt64
        let bytes: UInt64
    }

    /// The answer to an open loop that asks for a ticket.
    enum Departure: Sendable {
        case ticket(Ticket)
        /// All requests of the warm-up were started, but the measured part has not begun yet.
        case wait
        /// The measured part has begun: the schedule restarts at that time.
        case restart(UInt64)
        case over
    }

    private let began = MonotonicTime.now
    private let warmUp: UInt64
    private let warmUpEnd: UInt64?
    private let requestLimit: UInt64?
    private let duration: UInt64?
    /// The rate of an open loop in requests per second; `nil`: a closed loop.
    private let rate: Double?
    private let state: Mutex<State>

    private static let second: UInt64 = 1_000_000_000

    init(_ plan: BenchPlan) {
        warmUp = plan.warmUp
        warmUpEnd = plan.warmUpTime.map { [began] in began + $0.nanoseconds }
        requestLimit = plan.requests
        duration = plan.duration?.nanoseconds
        rate = plan.rate
        var state = State(origin: began)
        if plan.warmUp == 0 {
            let from = ProcessUsage.read()
            state.phase = .measuring(from: from)
            state.origin = from.time
        }
        self.state = Mutex(state)
    }

    /// The next request of a closed loop; `nil` if enough requests have been started.
    func begin() -> Ticket? {
        begin(time: nil)
    }

    /// A request of an open loop with the intended send time `time`, in a schedule that began at `origin`.
    func begin(intendedAt time: UInt64, origin: UInt64) -> Departure {
        let now = MonotonicTime.now
        let (departure, waiter) = state.withLock { state -> (Departure, CheckedContinuation<Void, Never>?) in
            if case .measuring(let from) = state.phase {
                if origin != state.origin { return (.restart(state.origin), nil) }
                // A request that is due after the end does not belong to the run, even if its ticket is requested
                // earlier.
                if let duration, time >= from.time + duration { drain(&state, now) }
            } else if case .warmingUp = state.phase, state.started >= warmUp {
                return (.wait, nil)
            }
            let ticket = begin(&state, time: time, now: now)
            return (ticket.map { .ticket($0) } ?? .over, finishIfDrained(&state))
        }
        waiter?.resume()
        return departure
    }

    /// The start of an open loop's schedule.
    var origin: UInt64 { state.withLock { $0.origin } }

    private func begin(time: UInt64?) -> Ticket? {
        let now = MonotonicTime.now
        let (ticket, waiter) = state.withLock { state in
            let ticket = begin(&state, time: time ?? now, now: now)
            return (ticket, finishIfDrained(&state))
        }
        waiter?.resume()
        return ticket
    }

    /// Counts a request that has ended.
    func end(_ ticket: Ticket, _ outcome: Outcome) {
        let now = MonotonicTime.now
        let waiter = state.withLock { end(&$0, ticket, outcome, now) }
        waiter?.resume()
    }

    /// Counts a request that has ended and begins the next one of a closed loop, under one lock.
    func endAndBegin(_ ticket: Ticket, _ outcome: Outcome) -> Ticket? {
        let now = MonotonicTime.now
        let (next, waiter) = state.withLock { state in
            // The next ticket is taken first, so that the run does not look finished between the two steps.
            let next = begin(&state, time: now, now: now)
            return (next, end(&state, ticket, outcome, now))
        }
        waiter?.resume()
        return next
    }

    private func begin(_ state: inout State, time: UInt64, now: UInt64) -> Ticket? {
        var ahead = state.warmed
        switch state.phase {
        case .draining, .done: return nil
        case .measuring(let from):
            if let duration, now >= from.time + duration {
                drain(&state, now)
                return nil
            }
        case .warmingUp: ahead = warmUp
        }
        if let requestLimit, state.started >= requestLimit + ahead { return nil }
        state.started += 1
        return Ticket(time: time)
    }

    private func end(
        _ state: inout State, _ ticket: Ticket, _ outcome: Outcome, _ now: UInt64
    ) -> CheckedContinuation<Void, Never>? {
        var outcome = outcome
        if state.isCut, outcome.status == nil, outcome.error?.exit == .interrupted {
            outcome.error = .unanswered
        }
        state.ended += 1
        // A warm-up that ended by its time limit may have started more requests than `requestLimit`. In that case the
        // first ones count. In an open loop, a request that was due during the warm-up belongs to the warm-up.
        let isWarmUp = rate != nil && ticket.time < state.origin
        if state.result.requests < requestLimit ?? .max, !isWarmUp {
            if outcome.status == nil, let error = outcome.error {
                if error.wait == .toItsEnd, state.isCut { state.result.unanswered += 1 }
                state.result.count(error, intendedAt: ticket.time, now: now)
            } else {
                state.result.count(outcome, nanoseconds: now > ticket.time ? now - ticket.time : 0)
            }
        }
        switch state.phase {
        case .warmingUp where state.ended == warmUp: measure(&state)
        case .measuring where state.result.requests == requestLimit: drain(&state, now)
        default: break
        }
        return finishIfDrained(&state)
    }

    private func measure(_ state: inout State) {
        let from = ProcessUsage.read()
        state.result = Result()
        // In an open loop the requests in flight also belong to the warm-up, because they were due during it.
        state.warmed = rate == nil ? state.ended : state.started
        state.startedBefore = state.started
        state.origin = from.time
        state.phase = .measuring(from: from)
    }

    /// The number of requests that were due in the measured part of an open loop.
    private func due(_ state: State, from: ProcessUsage, by now: UInt64) -> UInt64 {
        guard let rate else { return 0 }
        let time = min(now - min(now, from.time), duration ?? .max)
        return min(UInt64(min(Double(time) * rate / 1e9, 1e18).rounded(.up)), requestLimit ?? .max)
    }

    /// Requests in flight get twice the time of the slowest response so far to end, but at least 1 s and at most 30 s.
    private func drain(_ state: inout State, _ now: UInt64) {
        let slowest = state.result.latency.totalCount > 0 ? state.result.latency.max : 0
        let grace = min(max(slowest * 2, BenchLoad.second), 30 * BenchLoad.second)
        switch state.phase {
        case .warmingUp: state.phase = .draining(from: nil, until: now + grace)
        case .measuring(let from):
            // The time was read before the lock was taken. Another thread may have begun the measured part in between.
            let end = max(from.time, duration.map { min(now, from.time + $0) } ?? now)
            state.measured = Measured(end: end, answered: state.result.answered, bytes: state.result.bytes)
            if let rate {
                state.result.countNeverSent(
                    state.started - state.startedBefore, upTo: due(state, from: from, by: now), from: from.time,
                    rate: rate)
            }
            state.phase = .draining(from: from, until: now + grace)
        case .draining, .done: break
        }
    }

    private func finishIfDrained(_ state: inout State) -> CheckedContinuation<Void, Never>? {
        guard case .draining(let from, _) = state.phase, state.ended == state.started else { return nil }
        let to = ProcessUsage.read()
        state.result.endWaiting(at: to.time)
        state.phase = .done(from: from, to: to)
        let waiter = state.waiter
        state.waiter = nil
        return waiter
    }

    /// Ends the run: hands out no more tickets. `wait()` returns when the requests in flight have ended.
    func stop() {
        let now = MonotonicTime.now
        let waiter = state.withLock { state in
            drain(&state, now)
            return finishIfDrained(&state)
        }
        waiter?.resume()
    }

    /// Ends the run at the user's request. The requests in flight get at most 1 s to end.
    func interrupt() {
        let now = MonotonicTime.now
        let waiter = state.withLock { state in
            state.isInterrupted = true
            drain(&state, now)
            if case .draining(let from, let until) = state.phase {
                state.phase = .draining(from: from, until: min(until, now + BenchLoad.second))
            }
            return finishIfDrained(&state)
        }
        waiter?.resume()
    }

    enum Tick {
        /// Nothing is due before that time; `nil`: no time is known.
        case next(UInt64?)
        /// The requests in flight must be cancelled.
        case cut
        case done
    }

    /// Moves to the next phase if it is due, whatever the server does.
    func tick() -> Tick {
        let now = MonotonicTime.now
        let (tick, waiter) = state.withLock { state in
            if case .warmingUp = state.phase, let warmUpEnd, now >= warmUpEnd { measure(&state) }
            if case .measuring(let from) = state.phase, let duration, now >= from.time + duration { drain(&state, now) }
            let waiter = finishIfDrained(&state)
            switch state.phase {
            case .warmingUp: return (Tick.next(warmUpEnd), waiter)
            case .measuring(let from): return (.next(duration.map { from.time + $0 }), waiter)
            case .draining(_, let until) where now < until: return (.next(until), waiter)
            case .draining:
                state.isCut = true
                return (.cut, waiter)
            case .done: return (.done, waiter)
            }
        }
        waiter?.resume()
        return tick
    }

    /// Returns when the last request has ended.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if case .done = state.phase { return true }
                state.waiter = continuation
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    /// Whether no more tickets are handed out.
    var isOver: Bool {
        state.withLock { state in
            switch state.phase {
            case .warmingUp, .measuring: false
            case .draining, .done: true
            }
        }
    }

    var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    /// The first failure of the measured part, or of the warm-up if the run ended during the warm-up.
    var firstError: ErrorNote? { state.withLock { $0.result.firstError } }

    /// The counts so far, and their start; `nil` during the warm-up.
    func snapshot() -> Snapshot? {
        state.withLock { state in
            switch state.phase {
            case .warmingUp, .draining(nil, _), .done(nil, _): nil
            case .measuring(let from), .draining(let from?, _): Snapshot(state.result, from, .read(), state.measured)
            case .done(let from?, let to): Snapshot(state.result, from, to, state.measured)
            }
        }
    }

    /// The counts, and the period that they cover.
    struct Snapshot: Sendable {
        let result: Result
        let from: ProcessUsage
        let to: ProcessUsage
        /// `nil`: the measured part is still running.
        let measured: Measured?

        init(_ result: Result, _ from: ProcessUsage, _ to: ProcessUsage, _ measured: Measured?) {
            self.result = result
            self.from = from
            self.to = to
            self.measured = measured
        }

        /// The duration of the measured part, without the drain phase.
        var seconds: Double { Double((measured?.end ?? to.time) - from.time) / 1e9 }
        var answeredPerSecond: Double { rate(of: measured?.answered ?? result.answered) }
        var bytesPerSecond: Double { rate(of: measured?.bytes ?? result.bytes) }

        private func rate(of count: UInt64) -> Double { seconds > 0 ? Double(count) / seconds : 0 }
    }
}
