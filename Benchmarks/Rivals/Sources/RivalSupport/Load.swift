import Dispatch
import Synchronization

/// Hands out requests and counts how they end. May be called from any thread.
///
/// A closed loop keeps a fixed number of requests in flight: the next request begins when one ends. In an open loop
/// each request has a due time. A request that cannot be sent at its due time, because the limit of requests in flight
/// is reached, is sent when another one ends; its latency still counts from the due time.
package final class Load: Sendable {
    package struct Ticket: Sendable {
        /// The start of the latency.
        let time: UInt64
        /// The number of the request, counted from 0, including the warm-up.
        package let number: Int
    }

    enum Next {
        case ticket(Ticket)
        case wait(until: UInt64)
        case over
    }

    private struct State: Sendable {
        var started = 0
        var ended = 0
        var result = LoadResult()
        var from = ProcessUsage.read()
        var to: ProcessUsage?
    }

    private let width: Int
    private let warmUp: Int
    private let total: Int
    private let pace: Pace?
    private let state = Mutex(State())
    private let isDone = DispatchSemaphore(value: 0)

    /// How long to wait, in nanoseconds, when the limit of requests in flight is reached; a request that ends sends the
    /// next one sooner.
    private static let patience: UInt64 = 1_000_000

    init(width: Int, warmUp: Int, requests: Int, rate: Double?, tick: UInt64) {
        self.width = width
        self.warmUp = warmUp
        total = warmUp + requests
        pace = rate.map { Pace(first: MonotonicTime.now, rate: $0, tick: tick) }
    }

    /// Sends the first requests of the load; requests that end start the rest. Returns when all requests have ended.
    func run(_ send: (Ticket) -> Void) -> (LoadResult, from: ProcessUsage, to: ProcessUsage) {
        loop: while true {
            switch next() {
            case .ticket(let ticket): send(ticket)
            case .wait(let time): MonotonicTime.sleep(until: time)
            case .over: break loop
            }
        }
        isDone.wait()
        return state.withLock { ($0.result, $0.from, $0.to ?? .read()) }
    }

    private func next() -> Next {
        let now = MonotonicTime.now
        return state.withLock { state in
            guard state.started < total else { return .over }
            let isFull = state.started - state.ended >= width
            guard let pace else { return isFull ? .over : .ticket(begin(&state, now)) }
            let due = pace.due(state.started)
            let departure = pace.departure(due)
            if departure > now { return .wait(until: departure) }
            return isFull ? .wait(until: now + Load.patience) : .ticket(begin(&state, due))
        }
    }

    /// Counts a request that has ended. Returns the request to send in its place, if there is one.
    package func end(_ ticket: Ticket, _ outcome: RequestEnd) -> Ticket? {
        let now = MonotonicTime.now
        let (next, isLast) = state.withLock { state -> (Ticket?, Bool) in
            let wasFull = state.started - state.ended >= width
            state.ended += 1
            if state.ended > warmUp {
                state.result.count(outcome, nanoseconds: now > ticket.time ? now - ticket.time : 0)
            } else if state.ended == warmUp {
                state.from = .read()
            }
            if state.ended == total {
                state.to = .read()
                return (nil, true)
            }
            guard state.started < total else { return (nil, false) }
            guard let pace else { return (begin(&state, now), false) }
            let due = pace.due(state.started)
            return (wasFull && pace.departure(due) <= now ? begin(&state, due) : nil, false)
        }
        if isLast { isDone.signal() }
        return next
    }

    private func begin(_ state: inout State, _ time: UInt64) -> Ticket {
        state.started += 1
        return Ticket(time: time, number: state.started - 1)
    }
}
