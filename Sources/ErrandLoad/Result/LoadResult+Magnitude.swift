extension LoadResult {
    /// The largest ``magnitude`` of a result that was read or merged, so that sums of its counts do not overflow.
    static let maximumMagnitude: UInt64 = 1 << 58

    /// The sum of everything that is counted in the result. `UInt64.max`: more than fits.
    var magnitude: UInt64 {
        var sum = SaturatingSum()
        for request in requests { sum.add(request) }
        for scenario in scenarios {
            sum.add(
                scenario.started, scenario.completed, scenario.failed, scenario.interrupted, scenario.neverStarted,
                UInt64(clamping: scenario.peakUsers))
            guard let resilience = scenario.resilience else { continue }
            sum.add(resilience.hedges, resilience.hedgesWon, resilience.refusedByBreaker)
            for count in resilience.retries.values { sum.add(count) }
        }
        for check in checks { sum.add(check.passed, check.failed) }
        for generator in generators { sum.add(generator.lag.count) }
        return sum.total
    }
}

/// A sum that stays at `UInt64.max`.
struct SaturatingSum {
    private(set) var total: UInt64 = 0

    mutating func add(_ numbers: UInt64...) {
        for number in numbers { add(number: number) }
    }

    private mutating func add(number: UInt64) {
        let (sum, isTooLarge) = total.addingReportingOverflow(number)
        total = isTooLarge ? .max : sum
    }

    fileprivate mutating func add(_ request: RequestStatistics) {
        add(request.counts)
        add(request.traffic)
        add(request.rejected, request.attempts)
        for count in request.statuses.values { add(number: count) }
        for count in request.errors.values { add(number: count) }
        let phases = request.phases
        add(request.latency.count, request.userWait.count, request.sendDelay.count, request.serviceTime.count)
        add(phases.resolve.count, phases.connect.count, phases.tls.count, phases.firstByte.count, phases.body.count)
        for interval in request.intervals {
            add(interval.counts)
            add(interval.traffic)
            add(interval.rejected)
            for count in interval.latency.counts { add(number: count) }
        }
    }

    private mutating func add(_ counts: LoadCounts) {
        add(counts.answered, counts.failed, counts.timedOut, counts.unfinished, counts.neverSent)
    }

    private mutating func add(_ traffic: LoadTraffic) {
        add(traffic.headBytesSent, traffic.bodyBytesSent, traffic.headBytesReceived, traffic.bodyBytesReceived)
    }
}
