import Histogram
import Synchronization

/// Hands out requests and counts how they end. Every engine asks it, from whatever thread it is on.
///
/// A request's latency is counted from the moment its ticket says: the submission in a closed loop, the intended send
/// time at a fixed rate, so that a server that stalls cannot hide the requests that could not be sent meanwhile.
final class BenchLoad: Sendable {
    struct Ticket: Sendable {
        let time: UInt64
    }

    struct Outcome: Sendable {
        /// `nil`: there was no whole response.
        var status: Int?
        var bytes: UInt64 = 0
        var error: ErrorNote?
    }

    /// Kept for the first failure alone.
    struct ErrorNote: Sendable {
        let text: String
        let exit: ExitStatus

        init(_ error: ToolError) {
            text = error.message
            exit = error.status
        }
    }

    struct Result: Sendable {
        var requests: UInt64 = 0
        var errors: UInt64 = 0
        var bytes: UInt64 = 0
        /// By status code; an array, because a dictionary would show up in the figures.
        var status = [UInt64](repeating: 0, count: 1000)
        var latency = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        var firstError: ErrorNote?
    }

    private enum Phase {
        case warmingUp
        case measuring(from: ProcessUsage)
        /// No more tickets; what is in flight still ends.
        case draining(from: ProcessUsage)
        case done(from: ProcessUsage, to: ProcessUsage)
    }

    private struct State: Sendable {
        var phase: Phase
        var started: UInt64 = 0
        var ended: UInt64 = 0
        var result = Result()
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let warmUp: UInt64
    private let wanted: UInt64?
    private let duration: UInt64?
    private let state: Mutex<State>

    init(_ plan: BenchPlan) {
        warmUp = plan.warmUp
        wanted = plan.requests.map { $0 + plan.warmUp }
        duration = plan.duration?.nanoseconds
        state = Mutex(State(phase: plan.warmUp == 0 ? .measuring(from: .read()) : .warmingUp))
    }

    /// The next request of a closed loop, or `nil` when there are enough.
    func begin() -> Ticket? {
        begin(time: nil)
    }

    /// A request that should be sent at that time.
    func begin(intendedAt time: UInt64) -> Ticket? {
        begin(time: time)
    }

    private func begin(time: UInt64?) -> Ticket? {
        let now = MonotonicTime.now
        let (ticket, waiter) = state.withLock { state in
            let ticket = begin(&state, time: time ?? now, now: now)
            return (ticket, finishIfDrained(&state))
        }
        waiter?.resume()
        return ticket
    }

    /// Counts an ended request.
    func end(_ ticket: Ticket, _ outcome: Outcome) {
        let now = MonotonicTime.now
        let waiter = state.withLock { end(&$0, ticket, outcome, now) }
        waiter?.resume()
    }

    /// Counts an ended request and begins the next one of a closed loop, under one lock.
    func endAndBegin(_ ticket: Ticket, _ outcome: Outcome) -> Ticket? {
        let now = MonotonicTime.now
        let (next, waiter) = state.withLock { state in
            // The next ticket first: it keeps the run from looking finished between the two.
            let next = begin(&state, time: now, now: now)
            return (next, end(&state, ticket, outcome, now))
        }
        waiter?.resume()
        return next
    }

    private func begin(_ state: inout State, time: UInt64, now: UInt64) -> Ticket? {
        switch state.phase {
        case .draining, .done: return nil
        case .measuring(let from):
            if let duration, now >= from.time + duration {
                state.phase = .draining(from: from)
                return nil
            }
        case .warmingUp: break
        }
        if let wanted, state.started >= wanted { return nil }
        state.started += 1
        return Ticket(time: time)
    }

    private func end(
        _ state: inout State, _ ticket: Ticket, _ outcome: Outcome, _ now: UInt64
    ) -> CheckedContinuation<Void, Never>? {
        state.ended += 1
        state.result.count(outcome, nanoseconds: now > ticket.time ? now - ticket.time : 0)
        switch state.phase {
        case .warmingUp where state.ended == warmUp:
            state.result = Result(firstError: state.result.firstError)
            state.phase = .measuring(from: .read())
        case .measuring(let from) where state.ended == wanted:
            state.phase = .draining(from: from)
        default: break
        }
        return finishIfDrained(&state)
    }

    private func finishIfDrained(_ state: inout State) -> CheckedContinuation<Void, Never>? {
        guard case .draining(let from) = state.phase, state.ended == state.started else { return nil }
        state.phase = .done(from: from, to: .read())
        let waiter = state.waiter
        state.waiter = nil
        return waiter
    }

    /// Ends the run: hands out no more tickets. The waiter goes on when what is in flight has ended.
    func stop() {
        let waiter = state.withLock { state in
            switch state.phase {
            case .warmingUp:
                state.result = Result(firstError: state.result.firstError)
                state.phase = .draining(from: .read())
            case .measuring(let from): state.phase = .draining(from: from)
            case .draining, .done: break
            }
            return finishIfDrained(&state)
        }
        waiter?.resume()
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

    /// What has been counted so far, and since when; `nil` in the warm-up.
    func snapshot() -> (result: Result, from: ProcessUsage, to: ProcessUsage)? {
        state.withLock { state in
            switch state.phase {
            case .warmingUp: nil
            case .measuring(let from), .draining(let from): (state.result, from, .read())
            case .done(let from, let to): (state.result, from, to)
            }
        }
    }
}

extension BenchLoad.Result {
    mutating func count(_ outcome: BenchLoad.Outcome, nanoseconds: UInt64) {
        requests += 1
        bytes += outcome.bytes
        if let code = outcome.status, status.indices.contains(code) {
            status[code] += 1
        } else {
            errors += 1
            if firstError == nil { firstError = outcome.error }
        }
        latency.record(nanoseconds)
    }
}
