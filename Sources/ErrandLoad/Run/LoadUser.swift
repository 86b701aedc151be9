public import Errand
import Synchronization

/// A user of a load test during one iteration of its scenario's steps.
///
/// Requests that the steps run with ``run(_:named:)`` are measured; requests that they send directly through ``client``
/// are not. The steps may run several requests at the same time. An object can be used only in its own iteration.
public final class LoadUser: Sendable {
    private struct State: Sendable {
        var random: LoadRandom
        /// When the first request is due, and when a user was free: in the open model those of the iteration.
        var first: (due: UInt64, free: UInt64)?
        var hasSent = false
        /// The last measured request that was answered and is no error yet.
        var lastAnswered: LoadLedger.Ticket?
        /// The records of the names that were used last.
        var records: [(name: String, record: Int)] = []
        /// The rows of this iteration by feed.
        var rows: [Int: Int] = [:]
        /// Whether the last measured request belongs to the measured part; before the first one: whether the iteration does.
        var isCounted: Bool
    }

    /// The user's number in its scenario, from 1; unique over all shares of a plan. In the open model: the number of
    /// the place that the iteration takes among the `maxUsers`.
    public let number: Int
    /// The number of the iteration, from 0. Closed model: of this user. Open model: of the arrival in the whole plan.
    public let iteration: Int
    /// The client of the user, with the scenario's settings.
    public let client: Client
    /// What random choices depend on besides the iteration: the user in the closed model, and nothing in the open
    /// model, where an arrival takes any free user.
    package let source: UInt64
    /// The seed of random values in the requests of this iteration. It depends on the plan's seed, the scenario, the user and
    /// the iteration alone, so the shares of a plan together draw the same values as the whole plan. Arrivals of the
    /// warm-up are numbered from 0, like the measured ones, but draw other values.
    package let valueSeed: UInt64
    private let jar: UserCookieJar?
    private let runner: StepsRunner
    private let state: Mutex<State>

    init(_ iteration: LoadLedger.Iteration, _ runner: StepsRunner, _ client: Client, _ jar: UserCookieJar?) {
        number = runner.share.number(of: iteration.user)
        self.iteration = Int(clamping: iteration.number)
        self.client = client
        self.jar = jar
        self.runner = runner
        source = runner.isOpen ? 0 : UInt64(number)
        let seed = LoadRandom.draw(runner.seed, source, iteration.number)
        let isOfWarmUp = runner.isOpen && !iteration.isCounted
        valueSeed = LoadRandom.draw(
            LoadRandom.draw(runner.seed, isOfWarmUp ? 1 : 2, 0), source, iteration.number)
        state = Mutex(
            State(
                random: LoadRandom(seed: seed), first: runner.isOpen ? (due: iteration.due, free: iteration.free) : nil,
                isCounted: iteration.isCounted))
    }

    /// Whether a measured request was sent in this iteration.
    var hasSent: Bool { state.withLock { $0.hasSent } }

    /// The cookies of the user, the oldest first; empty if the scenario has none.
    public var cookies: [Cookie] { jar?.all ?? [] }

    /// Runs a command as a measured request and returns its value.
    ///
    /// The latency counts from sending. In the open model the latency of the first request of an iteration counts from
    /// the time at which the iteration was due.
    ///
    /// Throws the request's ``/Errand/ErrandError``, or `CancellationError` if the run is over. `name`: the name in reports;
    /// default: the method and the URL template or path. A scenario has at most 500 names; further ones count as `other`.
    @discardableResult
    public func run<C: Command>(_ command: C, named name: String? = nil) async throws -> C.Response {
        try Task.checkCancellation()
        let place = record(name ?? WeightedRequest.name(of: command))
        let request = client.request(command)
        guard let ticket = begin(place) else { throw CancellationError() }
        // The time is read where the request ends, not when the pool has resumed the task.
        let ended = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<UInt64, Never>) in
                let isStarted = request.start(completion: { _ in continuation.resume(returning: LoadClock.now) })
                if !isStarted { continuation.resume(returning: LoadClock.now) }
                // A task that was cancelled earlier had nothing to stop yet.
                if Task.isCancelled { request.stop() }
            }
        } onCancel: {
            request.stop()
        }
        let outcome = LoadOutcome(request).judged(runner.errorStatuses)
        end(ticket, outcome, at: ended)
        switch request.result {
        case .success(let value): return value
        case .failure(let error): throw error.thrown
        case nil: throw CancellationError()
        }
    }

    private func record(_ name: String) -> Int {
        let known = state.withLock { state in state.records.first { $0.name == name }?.record }
        if let known { return known }
        let scenario = runner.scenario
        let made = runner.recorder.withLedger { $0.record(scenario, named: name) }
        state.withLock { state in
            if state.records.count >= 16 { state.records.removeFirst() }
            state.records.append((name, made))
        }
        return made
    }

    private func begin(_ record: Int) -> LoadLedger.Ticket? {
        let first = state.withLock { state -> (due: UInt64, free: UInt64)? in
            state.hasSent = true
            return state.first.take()
        }
        let now = LoadClock.now
        return runner.recorder.withLedger { $0.begin(record, due: first?.due ?? now, free: first?.free, now) }
    }

    private func end(_ ticket: LoadLedger.Ticket, _ outcome: LoadOutcome, at time: UInt64) {
        runner.recorder.withLedger { $0.end(ticket, outcome, time) }
        let isAnswer = if case .answered = outcome.ending { true } else { false }
        state.withLock { state in
            state.lastAnswered = isAnswer ? ticket : nil
            state.isCounted = ticket.isCounted
        }
    }

    /// Waits. Throws `CancellationError` if the run is over.
    public func think(_ time: ThinkTime) async throws {
        let pause = state.withLock { time.draw(&$0.random) }
        guard pause > .zero else { return try Task.checkCancellation() }
        try await Task.sleep(for: pause)
    }

    /// Counts a check, and returns whether it was passed. The check is about the last request of the user, which counts
    /// as an error if the check was not passed. A check of a request of the warm-up is not counted. `name`: the name in
    /// reports; use only a few different names.
    @discardableResult
    public func check(_ name: String, _ isPassed: Bool) -> Bool {
        let (rejected, isCounted) = state.withLock { state in
            (isPassed ? nil : state.lastAnswered.take(), state.isCounted)
        }
        let scenario = runner.scenario
        runner.recorder.withLedger { ledger in
            ledger.check(scenario, named: name, isPassed: isPassed, isCounted: isCounted)
            if let rejected { ledger.reject(rejected, LoadError(kind: "check", phase: .check)) }
        }
        return isPassed
    }

    /// The row of a feed for this iteration: the same one at each call. Throws ``LoadDataError/unknown(name:)`` and
    /// ``LoadDataError/exhausted(name:)``.
    public func row(of name: String) throws(LoadDataError) -> LoadRow {
        guard let feed = runner.data.firstIndex(where: { $0.name == name }) else { throw .unknown(name: name) }
        let data = runner.data[feed]
        if let index = state.withLock({ $0.rows[feed] }) { return LoadRow(data, at: index) }
        var turn: UInt64 = 0
        if data.order == .sequential {
            let scenario = runner.scenario
            turn = runner.recorder.withLedger { $0.turn(scenario, feed: feed) }
        }
        guard
            let index = data.index(
                turn: turn, user: data.order == .random ? Int(source) : number, iteration: UInt64(iteration),
                seed: runner.seed &+ UInt64(feed), share: runner.share)
        else { throw .exhausted(name: name) }
        state.withLock { $0.rows[feed] = index }
        return LoadRow(data, at: index)
    }
}
