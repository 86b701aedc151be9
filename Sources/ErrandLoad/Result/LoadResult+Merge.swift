import FoundationEssentials

extension LoadResult {
    /// Merges the results of several shares of one plan into one result. Counts and histograms are added, which is
    /// exact. Intervals are aligned by the times at which the runs began, to the nearest interval; with
    /// ``LoadPlan/start`` these are equal. Thresholds are evaluated anew, on the sum. ``missingShares`` lists the
    /// shares that are missing; a missing share is no error.
    ///
    /// `allowsApart`: whether shares may begin at different times. By default a share that began later than the first
    /// one by more than a tenth of the duration is an error (``LoadMergeError/apart(_:by:)``): the summed rate would
    /// not be the rate at any time.
    public static func merged(
        _ results: [LoadResult], allowsApart: Bool = false
    ) throws(LoadMergeError) -> LoadResult {
        guard let first = results.first else { throw .nothing }
        try check(results, like: first)
        let interval = results.map(\.interval).max() ?? first.interval
        // A share without a request has no time of its own.
        let starts = results.filter(\.hasRequests).map(\.start)
        let start = starts.min() ?? results.map(\.start).min() ?? first.start
        var merged = LoadResult(
            plan: first.plan, start: start, duration: results.map(\.duration).max() ?? first.duration)
        merged.interval = interval
        merged.fingerprint = results.lazy.compactMap(\.fingerprint).first
        merged.shares = results.flatMap(\.shares).sorted { $0.index < $1.index }
        merged.generators = results.flatMap(\.generators)
        merged.failures = Array(results.flatMap(\.failures).prefix(10))
        merged.isInterrupted = results.contains(where: \.isInterrupted)
        merged.abortedBy = results.lazy.compactMap(\.abortedBy).first
        for result in results {
            guard let part = result.coarser(interval) else { throw .intervals(interval, result.interval) }
            let seconds = result.start.timeIntervalSince(start)
            let distance = seconds / (Double(LoadInstant.nanoseconds(interval)) / 1e9)
            guard distance.isFinite, abs(distance) < 1_000_000 else { throw .starts }
            let length = Double(LoadInstant.nanoseconds(merged.duration)) / 1e9
            if !allowsApart, seconds > length / 10, let share = result.shares.first, result.hasRequests {
                throw .apart(share, by: .seconds(seconds))
            }
            merged.add(part, shiftedBy: max(0, Int(distance.rounded())))
        }
        var seen: Set<LoadThreshold> = []
        for threshold in results.flatMap(\.thresholds).map(\.threshold) where seen.insert(threshold).inserted {
            merged.thresholds.append(threshold.outcome(in: merged))
        }
        return merged
    }

    private var hasRequests: Bool { requests.contains { $0.counts.due > 0 } }

    /// The shares of the plan that are not in this result, ascending.
    public var missingShares: [LoadShare] {
        guard let count = shares.first?.count else { return [] }
        let present = Set(shares.map(\.index))
        return (0..<count).compactMap { present.contains($0) ? nil : LoadShare(number: $0 + 1, of: count) }
    }

    /// The result with longer intervals, as a longer run has them; `nil`: `wanted` is not the present length times a
    /// power of two.
    private func coarser(_ wanted: Duration) -> LoadResult? {
        let (factor, rest) = LoadInstant.nanoseconds(wanted).quotientAndRemainder(
            dividingBy: max(1, LoadInstant.nanoseconds(interval)))
        guard rest == 0, factor > 0, factor & (factor - 1) == 0 else { return nil }
        guard factor > 1 else { return self }
        var coarser = self
        let measured = measuredIntervals
        for place in requests.indices {
            coarser.requests[place].intervals = LoadInterval.joined(
                requests[place].intervals, by: Int(factor), measured: measured)
        }
        coarser.interval = wanted
        return coarser
    }

    private static func check(_ results: [LoadResult], like first: LoadResult) throws(LoadMergeError) {
        let count = first.shares.first?.count ?? 1
        var seen: Set<LoadShare> = []
        var magnitude = SaturatingSum()
        for result in results {
            guard result.plan == first.plan else { throw .plans(first.plan, result.plan) }
            if let one = first.fingerprint, let other = result.fingerprint, one != other {
                throw .contents(result.plan)
            }
            for share in result.shares {
                guard share.count == count else { throw .shareCounts(count, share.count) }
                guard seen.insert(share).inserted else { throw .twice(share) }
            }
            magnitude.add(result.magnitude)
        }
        guard magnitude.total <= maximumMagnitude else { throw .overflow }
    }

    private mutating func add(_ other: LoadResult, shiftedBy shift: Int) {
        for request in other.requests {
            var request = request
            for index in request.intervals.indices { request.intervals[index].index += shift }
            if let place = requests.firstIndex(where: { $0.scenario == request.scenario && $0.name == request.name }) {
                requests[place].add(request)
            } else {
                requests.append(request)
            }
        }
        for scenario in other.scenarios {
            if let place = scenarios.firstIndex(where: { $0.name == scenario.name }) {
                scenarios[place].add(scenario)
            } else {
                scenarios.append(scenario)
            }
        }
        for check in other.checks {
            if let place = checks.firstIndex(where: { $0.scenario == check.scenario && $0.name == check.name }) {
                checks[place].passed += check.passed
                checks[place].failed += check.failed
            } else {
                checks.append(check)
            }
        }
    }
}

extension ScenarioStatistics {
    /// Adds the users of another part of the run, for example of another machine. The peaks are added, too.
    fileprivate mutating func add(_ other: ScenarioStatistics) {
        started += other.started
        completed += other.completed
        failed += other.failed
        interrupted += other.interrupted
        neverStarted += other.neverStarted
        peakUsers += other.peakUsers
        guard let more = other.resilience else { return }
        resilience = resilience ?? LoadResilience()
        resilience? += more
    }
}
