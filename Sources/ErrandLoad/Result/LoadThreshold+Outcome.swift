import Errand

extension LoadThreshold {
    /// The verdict on a result. If nothing was measured (no request, or no check), the threshold is not met.
    ///
    /// Latencies contain requests that failed after a wait, timed out or did not end, with the time that they waited.
    /// The rate is that of the measured part, without the grace period. For ``Measure/checks``, ``request`` is the name
    /// of a check, or of a request whose checks have names such as `login: status == 200`. ``Measure/iterations``
    /// applies to a scenario, not to a request.
    public func outcome(in result: LoadResult) -> ThresholdOutcome {
        let measured = measured(in: result)
        return ThresholdOutcome(self, measured: measured, isMet: measured.map(isMet) ?? false)
    }

    private func isMet(_ measured: Double) -> Bool {
        switch comparison {
        case .less: measured < bound
        case .lessOrEqual: measured <= bound
        case .greater: measured > bound
        case .greaterOrEqual: measured >= bound
        }
    }

    private func measured(in result: LoadResult) -> Double? {
        switch measure {
        case .percentile(let percentile): latency(in: result).map { Double($0.value(at: percentile)) }
        case .mean: latency(in: result).map(\.mean)
        case .max: latency(in: result).map { Double($0.max) }
        case .errors: share(in: result) { $0.errorCount }
        case .neverSent: share(in: result) { $0.counts.neverSent }
        case .rate: rate(in: result)
        case .checks: checks(in: result)
        case .iterations: iterations(in: result)
        }
    }

    /// Whether the threshold is about this check.
    func matches(check: String) -> Bool {
        guard let request else { return true }
        return check == request || check.hasPrefix(request + ": ")
    }

    private func iterations(in result: LoadResult) -> Double? {
        guard request == nil else { return nil }
        let scenarios = result.scenarios.filter { scenario == nil || scenario == $0.name }
        let failed = scenarios.reduce(0) { $0 + $1.failed }
        let ended = failed + scenarios.reduce(0) { $0 + $1.completed }
        return ended > 0 ? Double(failed) / Double(ended) : nil
    }

    private func requests(in result: LoadResult) -> [RequestStatistics] {
        result.requests.filter { statistics in
            (scenario == nil || scenario == statistics.scenario) && (request == nil || request == statistics.name)
        }
    }

    private func latency(in result: LoadResult) -> LatencyHistogram? {
        let requests = requests(in: result)
        guard var sum = requests.first?.latency else { return nil }
        for other in requests.dropFirst() { sum.add(other.latency) }
        return sum.count > 0 ? sum : nil
    }

    private func share(in result: LoadResult, of count: (RequestStatistics) -> UInt64) -> Double? {
        let requests = requests(in: result)
        let due = requests.reduce(0) { $0 + $1.counts.due }
        guard due > 0 else { return nil }
        return Double(requests.reduce(0) { $0 + count($1) }) / Double(due)
    }

    private func rate(in result: LoadResult) -> Double? {
        let requests = requests(in: result)
        let seconds = result.duration.asSeconds
        guard seconds > 0, requests.contains(where: { $0.counts.due > 0 }) else { return nil }
        return Double(requests.reduce(0) { $0 + result.measured($1).answered }) / seconds
    }

    private func checks(in result: LoadResult) -> Double? {
        let checks = result.checks.filter { check in
            (scenario == nil || scenario == check.scenario) && matches(check: check.name)
        }
        let passed = checks.reduce(0) { $0 + $1.passed }
        let all = passed + checks.reduce(0) { $0 + $1.failed }
        return all > 0 ? Double(passed) / Double(all) : nil
    }
}
