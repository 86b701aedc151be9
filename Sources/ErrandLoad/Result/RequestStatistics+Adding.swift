extension RequestStatistics {
    /// Adds the requests of another part of the run, for example of another machine. Exact.
    public mutating func add(_ other: RequestStatistics) {
        counts += other.counts
        statuses.merge(other.statuses, uniquingKeysWith: +)
        errors.merge(other.errors, uniquingKeysWith: +)
        rejected += other.rejected
        attempts += other.attempts
        traffic += other.traffic
        latency.add(other.latency)
        userWait.add(other.userWait)
        sendDelay.add(other.sendDelay)
        serviceTime.add(other.serviceTime)
        phases.add(other.phases)
        intervals = LoadInterval.sum(intervals, other.intervals)
    }
}

extension LoadPhases {
    /// Adds the durations of another part.
    public mutating func add(_ other: LoadPhases) {
        resolve.add(other.resolve)
        connect.add(other.connect)
        tls.add(other.tls)
        firstByte.add(other.firstByte)
        body.add(other.body)
    }
}

extension LoadInterval {
    /// Both series in one, by index.
    static func sum(_ left: [LoadInterval], _ right: [LoadInterval]) -> [LoadInterval] {
        guard !left.isEmpty else { return right }
        guard !right.isEmpty else { return left }
        var sums: [Int: LoadInterval] = [:]
        for interval in left + right {
            sums[interval.index, default: LoadInterval(index: interval.index)].add(interval)
        }
        return sums.values.sorted { $0.index < $1.index }
    }

    /// The index of an interval after `factor` intervals have become one. Intervals after the `measured` ones of the
    /// measured part do not become part of it.
    static func index(_ index: Int, by factor: Int, measured: Int) -> Int {
        index < measured ? index / factor : max((measured + factor - 1) / factor, index / factor)
    }

    /// The series in which `factor` neighbours are one interval.
    static func joined(_ intervals: [LoadInterval], by factor: Int, measured: Int) -> [LoadInterval] {
        var joined: [LoadInterval] = []
        for var interval in intervals {
            interval.index = index(interval.index, by: factor, measured: measured)
            if let last = joined.indices.last, joined[last].index == interval.index {
                joined[last].add(interval)
            } else {
                joined.append(interval)
            }
        }
        return joined
    }

    /// Adds the requests of another part of the same interval. Exact.
    mutating func add(_ other: LoadInterval) {
        counts += other.counts
        rejected += other.rejected
        traffic += other.traffic
        latency.add(other.latency)
    }
}
