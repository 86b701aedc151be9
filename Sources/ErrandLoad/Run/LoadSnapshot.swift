package import FoundationEssentials

/// The state of a run at one moment: ``LoadRun/snapshot``.
public struct LoadSnapshot: Sendable, Equatable {
    /// An interval that is over.
    public struct Interval: Sendable, Equatable {
        /// The number of the interval since the start of the measured part, from 0.
        public let index: Int
        /// The requests that were answered in the interval.
        public let answered: UInt64
        /// The requests that had no answer, and answered requests that were rejected.
        public let errors: UInt64
        /// The median of the latencies in nanoseconds.
        public let p50: UInt64
        /// The 99th percentile of the latencies in nanoseconds.
        public let p99: UInt64
    }

    /// The phase of the run.
    public var phase: LoadPhase
    /// The time since the start of the measured part, without the grace period; zero before.
    public var elapsed: Duration
    /// The planned time of the measured part.
    public var planned: Duration
    /// The length of an interval.
    public var interval: Duration
    /// How the measured requests have ended so far.
    public var counts = LoadCounts()
    /// The part of the answered requests that was rejected.
    public var rejected: UInt64 = 0
    /// Bytes in both directions.
    public var traffic = LoadTraffic()
    /// Requests that were sent and have not ended.
    public var inFlight = 0
    /// Users with an iteration under way.
    public var users = 0
    /// The last intervals that are over, the oldest first; at most 120.
    public var recent: [Interval] = []
    /// The first failures by kind with their texts, at most 10.
    public var failures: [String] = []
}

extension LoadLedger {
    /// The state of the run. Costs a few additions for each request name.
    package func snapshot(_ now: UInt64, planned: Duration) -> LoadSnapshot {
        var snapshot = LoadSnapshot(
            phase: publicPhase, elapsed: .nanoseconds(Int64(clamping: measured(now))), planned: planned,
            interval: .nanoseconds(Int64(clamping: interval)))
        for record in records {
            snapshot.counts += record.counts
            snapshot.rejected += record.rejected
            snapshot.traffic += record.traffic
        }
        snapshot.inFlight = inFlight
        snapshot.users = scenarios.reduce(0) { $0 + $1.running }
        snapshot.recent = recent
        snapshot.failures = failures
        return snapshot
    }

    package var publicPhase: LoadPhase {
        switch phase {
        case .waiting: .waiting
        case .warmingUp: .warmingUp
        case .measuring: .measuring
        case .draining, .cut: .draining
        case .done: .done
        }
    }

    /// The figures of everything that has ended by `now`, without those of the generator. Records without a request are
    /// left out only if steps made them.
    package func result(_ plan: LoadPlan, _ now: UInt64, start: Date) -> LoadResult {
        var result = LoadResult(
            plan: plan.name, start: start, duration: .nanoseconds(Int64(clamping: measured(now))))
        result.fingerprint = plan.fingerprint
        result.shares = [share]
        result.interval = .nanoseconds(Int64(clamping: interval * UInt64(scale)))
        let measured = measuredIntervals
        let order = records.indices.sorted { (owners[$0], $0) < (owners[$1], $1) }
        result.requests = order.map { records[$0].statistics(scale: scale, measured: measured) }
        result.scenarios = scenarios.map(\.statistics)
        result.checks = checks
        result.failures = failures
        result.isInterrupted = isInterrupted
        result.abortedBy = abortedBy
        return result
    }
}
