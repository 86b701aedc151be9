import Errand
import FoundationEssentials
import Synchronization

/// A load test under way: runs a ``LoadPlan`` once.
///
/// ```swift
/// let run = try LoadRun(LoadPlan("shop", scenarios: [browse, order]))
/// let result = try await run.run()
/// print(result.total.latency.value(at: 99))
/// ```
///
/// In the open model a dedicated thread sends the requests that are due, and latencies count from the time at which a
/// request was due. In the closed model a request is due when it is sent, so latencies count from sending. Requests
/// that have not ended when the run is over, or could not be sent, count with the time that they waited.
///
/// Any thread may call any method.
public final class LoadRun: Sendable {
    /// What carries out the iterations of a scenario.
    private enum Work: Sendable {
        case requests(RequestSender)
        case steps(StepsRunner)

        func start(_ iteration: LoadLedger.Iteration) {
            switch self {
            case .requests(let sender): sender.start(iteration)
            case .steps(let runner): runner.start(iteration)
            }
        }
    }

    private struct Scenario: Sendable {
        let number: Int
        let clients: ScenarioClients
        let work: Work
        let isOpen: Bool
    }

    private struct State: Sendable {
        var hasRun = false
        /// When the measured part began.
        var start: Date?
        var lacksThread = false
        /// What the resilience of each scenario had counted when the measured part began.
        var resilience: [ResilienceParts.Counts?] = []
    }

    /// How often phases and users of the closed model are looked at, in nanoseconds.
    private static let period: UInt64 = 10_000_000
    private static let second: UInt64 = 1_000_000_000

    /// The plan.
    public let plan: LoadPlan
    private let scenarios: [Scenario]
    private let recorder: LoadRecorder
    private let watch = GeneratorWatch()
    private let planned: Duration
    private let state = Mutex(State())

    /// Checks the plan, makes the clients and starts their engines. Sends nothing yet.
    public init(_ plan: LoadPlan) throws(LoadPlanError) {
        try plan.validate()
        self.plan = plan
        let ledger = LoadLedger(plan)
        var clients: [ScenarioClients] = []
        for (number, scenario) in plan.scenarios.enumerated() {
            let made = ScenarioClients(scenario, users: ledger.scenarios[number].mostUsers)
            clients.append(made)
            guard case .requests(let requests) = scenario.work else { continue }
            for request in requests {
                do throws(ErrandError) {
                    _ = try request.describe(made.main)
                } catch {
                    throw .invalidRequest(scenario: scenario.name, request: request.name, error)
                }
            }
        }
        planned = .nanoseconds(Int64(clamping: ledger.planned))
        let recorder = LoadRecorder(ledger)
        self.recorder = recorder
        var scenarios: [Scenario] = []
        for (number, scenario) in plan.scenarios.enumerated() {
            let work: Work
            switch scenario.work {
            case .requests(let requests):
                work = .requests(RequestSender(scenario, requests, clients[number], recorder))
            case .steps(let steps):
                work = .steps(StepsRunner(scenario, number: number, plan, clients[number], recorder, steps))
            }
            let isOpen = if case .arrivals = scenario.shape { true } else { false }
            scenarios.append(Scenario(number: number, clients: clients[number], work: work, isOpen: isOpen))
        }
        self.scenarios = scenarios
    }

    /// The current state of the run. Costs a few additions for each request name, and the lock that requests take when
    /// they end. A live view reads it at most 16 times a second.
    public var snapshot: LoadSnapshot {
        let now = LoadClock.now
        let planned = planned
        return recorder.withLedger { $0.snapshot(now, planned: planned) }
    }

    /// Ends the run gracefully: nothing begins any more, and requests and iterations in flight get 1 s to end before
    /// they are cancelled. ``run()`` then returns its result, with ``LoadResult/isInterrupted`` set. If the load has
    /// not begun, the result is empty.
    public func stop() {
        let now = LoadClock.now
        recorder.withLedger { $0.stop(now) }
    }

    /// Runs the plan and returns the measurements. Cancelling the task has the effect of ``stop()``.
    public func run() async throws(LoadRunError) -> LoadResult {
        let isFirst = state.withLock { state in
            defer { state.hasRun = true }
            return !state.hasRun
        }
        guard isFirst else { throw .hasRun }
        let begin: UInt64
        do throws(LoadRunError) {
            begin = try await beginning()
        } catch {
            await shutDown()
            throw error
        }
        noteResilience()
        recorder.withLedger { $0.start(at: begin) }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                startThreads { continuation.resume() }
            }
        } onCancel: {
            stop()
        }
        let result = makeResult()
        let startFailure = recorder.withLedger { $0.startFailure }
        await shutDown()
        if state.withLock({ $0.lacksThread }) { throw .noThread }
        if let startFailure {
            throw .noRequest(iterations: LoadLedger.mostFailures, reason: startFailure)
        }
        return result
    }

    // MARK: Begin

    /// Waits until one second before the start of the plan, and returns the start as a time of ``LoadClock``.
    private func beginning() async throws(LoadRunError) -> UInt64 {
        guard let start = plan.start else { return LoadClock.now }
        let late = -start.timeIntervalSinceNow
        // A share that begins late would send all arrivals that it has missed in one burst.
        guard late <= 0 else { throw .startIsPast(by: .seconds(late)) }
        // The wall clock is read again and again, because it may be set meanwhile.
        while start.timeIntervalSinceNow > 1, recorder.withLedger({ $0.isOpen }) {
            if (try? await Task.sleep(for: .milliseconds(100))) == nil { stop() }
        }
        // The start of a run that was stopped earlier may be far in the future.
        return LoadClock.now + UInt64(min(max(0, start.timeIntervalSinceNow), 1) * 1e9)
    }

    /// `done` is called once, when everything has ended.
    private func startThreads(_ done: @escaping @Sendable () -> Void) {
        for scenario in scenarios where scenario.isOpen {
            if !LoadThread.start("errand-arrivals", { self.dispatch(scenario) }) { giveUp() }
        }
        if !LoadThread.start("errand-watch", { self.look() }) { giveUp() }
        guard LoadThread.start("errand-pace", { self.pace(done) }) else {
            giveUp()
            return done()
        }
    }

    private func giveUp() {
        state.withLock { $0.lacksThread = true }
        stop()
    }

    // MARK: Threads

    /// Moves the run through its phases, and starts users of the closed model.
    private func pace(_ done: () -> Void) {
        var isWatching = false
        var isOver = false
        while true {
            let now = LoadClock.now
            let (step, phase, origin) = recorder.withLedger { ledger in
                let step = ledger.tick(now)
                return (step, ledger.publicPhase, ledger.origin)
            }
            if step == .measure {
                state.withLock { $0.start = Date(timeIntervalSinceNow: -Double(now - origin) / 1e9) }
                // Without a warm-up requests may have begun before this.
                if plan.warmUp > .zero { noteResilience() }
                isWatching = true
                if !watch.begin() { giveUp() }
            }
            if phase == .draining || phase == .done, isWatching, !isOver {
                isOver = true
                watch.end(connections: connections)
            }
            if step == .cut { cancel() }
            if step == .done { return done() }
            for scenario in scenarios where !scenario.isOpen {
                let number = scenario.number
                let iterations = recorder.withLedger { $0.usersToBegin(number, now) }
                for iteration in iterations { scenario.work.start(iteration) }
            }
            LoadClock.sleep(until: LoadClock.now + Self.period)
        }
    }

    /// Sends the arrivals of an open scenario.
    private func dispatch(_ scenario: Scenario) {
        let number = scenario.number
        while true {
            let now = LoadClock.now
            switch recorder.withLedger({ $0.dispatch(number, now) }) {
            case .begin(let iteration): scenario.work.start(iteration)
            // Short sleeps: the run may be stopped meanwhile.
            case .wait(let time): LoadClock.sleep(until: min(time, now + Self.period))
            case .over: return
            }
        }
    }

    /// Looks at descriptors and thresholds each second.
    private func look() {
        let aborting = plan.thresholds.filter(\.aborts)
        var due = LoadClock.now + Self.second
        while true {
            LoadClock.sleep(until: min(due, LoadClock.now + Self.period * 5))
            let phase = recorder.withLedger { $0.publicPhase }
            if phase == .done || state.withLock({ $0.lacksThread }) { return }
            guard LoadClock.now >= due else { continue }
            watch.look()
            if phase == .measuring, !aborting.isEmpty { judge(aborting) }
            due = LoadClock.now + Self.second
        }
    }

    /// Ends the run if a threshold is crossed. A threshold for which nothing was measured yet is not crossed.
    private func judge(_ thresholds: [LoadThreshold]) {
        let result = recorder.result(plan, start: startDate)
        for threshold in thresholds {
            let outcome = threshold.outcome(in: result)
            guard outcome.measured != nil, !outcome.isMet else { continue }
            let now = LoadClock.now
            return recorder.withLedger { $0.abort(now, by: "\(threshold)") }
        }
    }

    // MARK: End

    private func cancel() {
        for scenario in scenarios {
            if case .steps(let runner) = scenario.work { runner.cancel() }
            scenario.clients.cancel()
        }
    }

    private func shutDown() async {
        for scenario in scenarios { await scenario.clients.shutDown() }
    }

    private var startDate: Date { state.withLock { $0.start } ?? Date() }

    /// The statistics of the engines, each once.
    private var engines: [EngineStatistics] {
        var known: [ObjectIdentifier] = []
        return scenarios.compactMap { scenario in
            if let shared = plan.scenarios[scenario.number].configuration.sharedEngine {
                guard !known.contains(ObjectIdentifier(shared)) else { return nil }
                known.append(ObjectIdentifier(shared))
            }
            return scenario.clients.main.engineStatistics
        }
    }

    private var connections: Int { engines.reduce(0) { $0 + $1.connectionsOpen } }

    private func noteResilience() {
        let counts = scenarios.map { $0.clients.resilience?.counts }
        state.withLock { $0.resilience = counts }
    }

    /// What the resilience of each scenario has done since then; `nil`: the scenario has none, or shares that of an
    /// earlier scenario.
    private var resilience: [LoadResilience?] {
        let before = state.withLock { $0.resilience }
        var known: Set<ObjectIdentifier> = []
        return scenarios.enumerated().map { place, scenario -> LoadResilience? in
            guard let parts = scenario.clients.resilience, known.insert(ObjectIdentifier(parts)).inserted else {
                return nil
            }
            return LoadResilience(parts.counts, since: before.indices.contains(place) ? before[place] : nil)
        }
    }

    private func makeResult() -> LoadResult {
        var result = recorder.result(plan, start: startDate)
        for (place, counts) in resilience.enumerated() where result.scenarios.indices.contains(place) {
            result.scenarios[place].resilience = counts
        }
        let loops = engines.reduce(0) { $0 + $1.loops }
        var health = watch.health(loops: loops)
        var threads: Int? = loops + scenarios.count + scenarios.count { $0.isOpen }
        var users: [Int] = []
        for scenario in scenarios {
            if case .steps = scenario.work { threads = nil }
            // Users whose data have ended are no limit of the generator.
            users.append(
                recorder.withLedger { ledger in
                    let own = ledger.scenarios[scenario.number]
                    return own.gone > 0 ? 0 : own.mostUsers
                })
        }
        let lackedDescriptors = recorder.withLedger { $0.lackedDescriptors }
        health.limits = GeneratorHealth.limits(
            of: result, health, threads: threads, users: users, lackedDescriptors: lackedDescriptors)
        result.generators = [health]
        result.thresholds = plan.thresholds.map { $0.outcome(in: result) }
        return result
    }
}
