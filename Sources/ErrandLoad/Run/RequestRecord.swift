import Errand

/// The figures of one request name while a run goes on. The present interval is kept separately, and is added to the
/// rest when it is over, so each request is recorded in one histogram of latencies.
package struct RequestRecord: Sendable {
    /// The figures without the present interval.
    private var past: RequestStatistics
    /// Answered requests by status code; an array, because the cost of a dictionary would show in the results.
    private var statuses = [UInt64](repeating: 0, count: 1000)
    /// Requests that were sent as soon as a user was free.
    private var undelayed: UInt64 = 0
    /// Requests that did not wait for a user.
    private var unwaited: UInt64 = 0
    private var present: LoadInterval
    /// Whether something was counted in the present interval.
    private var isActive = false
    /// How many intervals make one interval of ``past``.
    private var scale = 1
    private var latency = LatencyHistogram()

    init(scenario: String, name: String) {
        past = RequestStatistics(scenario: scenario, name: name)
        present = LoadInterval(index: 0)
    }

    package var name: String { past.name }
    /// The counts of the measured part so far.
    package var counts: LoadCounts { past.counts }
    var rejected: UInt64 { past.rejected }
    var traffic: LoadTraffic { past.traffic }
    var presentLatency: LatencyHistogram { latency }
    var presentCounts: LoadCounts { present.counts }
    var presentRejected: UInt64 { present.rejected }

    /// A request that fails before a connection within this time has no latency: it is quick, but no response.
    static let quickRefusal: UInt64 = 1_000_000_000

    /// Counts the end of a request at `now`. `isCut`: the run has cancelled the requests that had not ended.
    mutating func count(_ outcome: LoadOutcome, _ ticket: LoadLedger.Ticket, now: UInt64, isCut: Bool) {
        let (due, free, sent) = (ticket.due, ticket.free, ticket.sent)
        let waited = now > due ? now - due : 0
        var counts = LoadCounts()
        switch outcome.ending {
        case .answered(let status):
            counts.answered = 1
            latency.record(waited)
            countAnswer(status, outcome.transfer, service: now > sent ? now - sent : 0)
        case .rejected(let status, let error):
            counts.answered = 1
            latency.record(waited)
            countAnswer(status, outcome.transfer, service: now > sent ? now - sent : 0)
            reject(error)
        case .failed(let error):
            counts.failed = 1
            countFailure(error, waited)
        case .timedOut(let error):
            counts.timedOut = 1
            latency.record(waited)
            past.errors[error, default: 0] += 1
        case .cancelled(let error):
            // Cancelled before the end of the run: by the steps or a member of the configuration, not by the run.
            if isCut {
                counts.unfinished = 1
                latency.record(waited)
            } else {
                counts.failed = 1
                countFailure(error, waited)
            }
        case .refused:
            counts.neverSent = 1
            latency.record(waited)
        }
        past.counts += counts
        present.counts += counts
        guard counts.neverSent == 0 else { return }
        if free > due { past.userWait.record(free - due) } else { unwaited += 1 }
        if sent > free { past.sendDelay.record(sent - free) } else { undelayed += 1 }
        past.attempts += outcome.attempts
        guard outcome.attempts > 0 else { return }
        past.traffic += outcome.traffic
        present.traffic += outcome.traffic
    }

    private mutating func countFailure(_ error: LoadError, _ waited: UInt64) {
        past.errors[error, default: 0] += 1
        switch error.phase {
        case .queue, .resolve, .connect: if waited >= Self.quickRefusal { latency.record(waited) }
        case .tls, .firstByte, .body, .check: latency.record(waited)
        }
    }

    private mutating func countAnswer(_ status: Int, _ transfer: TransferSummary?, service: UInt64) {
        if statuses.indices.contains(status) { statuses[status] += 1 }
        past.serviceTime.record(service)
        guard let transfer, transfer.total > 0 else { return }
        if transfer.hasConnected, !transfer.isConnectionReused {
            past.phases.resolve.record(UInt64(clamping: transfer.resolved))
            past.phases.connect.record(UInt64(clamping: transfer.connected - transfer.resolved))
            if transfer.secured > transfer.connected {
                past.phases.tls.record(UInt64(clamping: transfer.secured - transfer.connected))
            }
        }
        if transfer.firstByte > 0 {
            past.phases.firstByte.record(UInt64(clamping: transfer.firstByte - transfer.sent))
            past.phases.body.record(UInt64(clamping: transfer.total - transfer.firstByte))
        }
    }

    /// An answered request that was counted turned out to be an error.
    mutating func reject(_ error: LoadError) {
        past.rejected += 1
        present.rejected += 1
        past.errors[error, default: 0] += 1
    }

    /// Counts requests that were due and were not sent when the run was over.
    mutating func countNeverSent(_ count: UInt64, waited: UInt64) {
        past.counts.neverSent += count
        present.counts.neverSent += count
        latency.record(waited, count: count)
    }

    /// Counts a request that was sent, and did not even end when it was cancelled.
    mutating func countUnfinished(waited: UInt64) {
        past.counts.unfinished += 1
        present.counts.unfinished += 1
        latency.record(waited)
    }

    /// Something is counted in the interval `index`. Returns true if it is the first in that interval.
    mutating func join(_ index: Int) -> Bool {
        guard !isActive else { return false }
        isActive = true
        present = LoadInterval(index: index)
        return true
    }

    /// The present interval is over. `scale`: how many intervals make one interval of the result. `measured`: the
    /// number of intervals of the measured part.
    mutating func close(scale: Int, measured: Int) {
        coarsen(to: scale, measured: measured)
        guard isActive else { return }
        isActive = false
        if present.counts.due > 0 || present.rejected > 0 {
            present.index = LoadInterval.index(present.index, by: scale, measured: measured)
            present.latency = CompactHistogram(latency)
            past.latency.add(latency)
            // A new histogram would grow again step by step, which was a twelfth of the CPU of a slow run.
            latency.removeAll()
            if let last = past.intervals.indices.last, past.intervals[last].index == present.index {
                past.intervals[last].add(present)
            } else {
                past.intervals.append(present)
            }
        }
        present = LoadInterval(index: 0)
    }

    private mutating func coarsen(to wanted: Int, measured: Int) {
        guard wanted > scale else { return }
        let present = (measured + scale - 1) / scale
        past.intervals = LoadInterval.joined(past.intervals, by: wanted / scale, measured: present)
        scale = wanted
    }

    /// All figures so far.
    package func statistics(scale: Int, measured: Int) -> RequestStatistics {
        var all = self
        all.close(scale: scale, measured: measured)
        var statistics = all.past
        for (status, count) in statuses.enumerated() where count > 0 { statistics.statuses[status] = count }
        statistics.userWait.record(0, count: unwaited)
        statistics.sendDelay.record(0, count: undelayed)
        return statistics
    }
}
