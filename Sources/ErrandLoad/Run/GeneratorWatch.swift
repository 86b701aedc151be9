import Synchronization

/// Watches the process that makes the load: the lateness of a timer each 10 ms, and descriptors each second.
final class GeneratorWatch: Sendable {
    private struct State: Sendable {
        var lag = LatencyHistogram()
        var peakDescriptors = 0
        var before: (user: Double, system: Double) = (0, 0)
        var after: (user: Double, system: Double)?
        var connections = 0
        var isOver = false
    }

    static let period: UInt64 = 10_000_000

    private let state = Mutex(State())

    /// The measured part begins. Starts the thread of the timer. Returns false if the system has no thread left.
    func begin() -> Bool {
        let cpu = ProcessFigures.cpu
        state.withLock { $0.before = cpu }
        return LoadThread.start("errand-lag") { self.sample() }
    }

    private func sample() {
        var due = LoadClock.now + Self.period
        while true {
            LoadClock.sleep(until: due)
            let now = LoadClock.now
            let late = now > due ? now - due : 0
            let isOver = state.withLock { state in
                if !state.isOver { state.lag.record(late) }
                return state.isOver
            }
            if isOver { return }
            due = max(due, now) + Self.period
        }
    }

    /// Called about every second.
    func look() {
        let descriptors = ProcessFigures.descriptors
        state.withLock { $0.peakDescriptors = max($0.peakDescriptors, descriptors) }
    }

    /// The measured part is over.
    func end(connections: Int) {
        let cpu = ProcessFigures.cpu
        state.withLock { state in
            state.isOver = true
            state.after = state.after ?? cpu
            state.connections = connections
        }
    }

    /// The figures, without a verdict.
    func health(loops: Int) -> GeneratorHealth {
        let cpu = ProcessFigures.cpu
        var health = GeneratorHealth()
        let figures = state.withLock { $0 }
        let after = figures.after ?? cpu
        health.userSeconds = max(0, after.user - figures.before.user)
        health.systemSeconds = max(0, after.system - figures.before.system)
        health.cores = ProcessFigures.cores
        health.peakResidentBytes = ProcessFigures.peakResidentBytes
        health.lag = figures.lag
        health.peakDescriptors = max(figures.peakDescriptors, ProcessFigures.descriptors)
        health.descriptorLimit = ProcessFigures.descriptorLimit
        health.connections = figures.connections
        health.loops = loops
        return health
    }
}

extension GeneratorHealth {
    /// Why the generator was the limit. The rules:
    ///
    /// - ``Limit/cpu(share:)``: the process used more than 90 % of the CPU time that it could use. That is the time of
    ///   its cores or, if that is less, of the threads that make the load: loops, callback queues, and dispatchers of
    ///   the open model.
    /// - ``Limit/lateSends(p99:)``: the 99th percentile of the send delay, which excludes the wait for a free user, is
    ///   above 1 ms, and above 10 % of the median latency.
    /// - ``Limit/loopLag(max:)``: the 99th percentile of the lag is above 10 ms.
    /// - ``Limit/descriptors(refused:limit:)``: a request got no descriptor.
    /// - ``Limit/users(scenario:count:)``: arrivals did not begin, and all users of the scenario were busy.
    ///   Arrivals of a scenario whose users have left, because their data had ended, are no limit.
    /// - ``Limit/neverSent(count:)``: arrivals did not begin although users were free, or the engine's queue was full.
    ///
    /// `threads`: those that make the load; `nil`: as many as there are cores, because tasks run the steps. `users`: the
    /// most users of each scenario; 0: its users have left, because their data had ended.
    package static func limits(
        of result: LoadResult, _ health: GeneratorHealth, threads: Int?, users: [Int], lackedDescriptors: UInt64
    ) -> [Limit] {
        var limits: [Limit] = []
        let seconds = Double(result.duration.loadNanoseconds) / 1e9
        let capacity = Double(min(max(1, health.cores), max(1, threads ?? health.cores)))
        if seconds > 0 {
            let share = (health.userSeconds + health.systemSeconds) / (seconds * capacity)
            if share > 0.9 { limits.append(.cpu(share: min(1, share))) }
        }
        var delay = LatencyHistogram()
        var latency = LatencyHistogram()
        var neverSent: UInt64 = 0
        for request in result.requests {
            delay.add(request.sendDelay)
            latency.add(request.latency)
            neverSent += request.counts.neverSent
        }
        let late = delay.value(at: 99)
        if late > 1_000_000, late > latency.value(at: 50) / 10 { limits.append(.lateSends(p99: late)) }
        if health.lag.value(at: 99) > 10_000_000 { limits.append(.loopLag(max: health.lag.max)) }
        if lackedDescriptors > 0 {
            limits.append(.descriptors(refused: lackedDescriptors, limit: health.descriptorLimit))
        }
        for (scenario, most) in zip(result.scenarios, users) where scenario.neverStarted > 0 {
            guard most == 0 || scenario.peakUsers >= most else { continue }
            if most > 0 { limits.append(.users(scenario: scenario.name, count: scenario.neverStarted)) }
            neverSent -= min(neverSent, scenario.neverStarted)
        }
        if neverSent > 0 { limits.append(.neverSent(count: neverSent)) }
        return limits
    }
}
