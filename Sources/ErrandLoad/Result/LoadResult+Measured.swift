extension LoadResult {
    /// The number of intervals of the measured part; the last one may be shorter. Later intervals are those of the
    /// grace period.
    var measuredIntervals: Int {
        let length = LoadInstant.nanoseconds(interval)
        guard length > 0, duration > .zero else { return 0 }
        let (count, rest) = LoadInstant.nanoseconds(duration).quotientAndRemainder(dividingBy: length)
        return Int(count) + (rest > 0 ? 1 : 0)
    }

    /// Whether iterations ended, and all of them failed.
    package var everyIterationFailed: Bool {
        let failed = scenarios.reduce(0) { $0 + $1.failed }
        let interrupted = scenarios.reduce(0) { $0 + $1.interrupted }
        // Each user has an iteration that the end of the run interrupts.
        return failed > 0 && failed >= interrupted && scenarios.allSatisfy { $0.completed == 0 }
    }

    /// The requests and bytes of the measured part alone, because rates exclude the grace period.
    func measured(_ request: RequestStatistics) -> (answered: UInt64, bytesReceived: UInt64) {
        let count = measuredIntervals
        var sum: (answered: UInt64, bytesReceived: UInt64) = (0, 0)
        for interval in request.intervals where interval.index < count {
            sum.answered += interval.counts.answered
            sum.bytesReceived += interval.traffic.headBytesReceived + interval.traffic.bodyBytesReceived
        }
        return sum
    }
}
