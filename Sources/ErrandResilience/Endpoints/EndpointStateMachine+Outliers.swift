import Glibc

extension EndpointStateMachine {
    /// How many endpoints may be ejected: the policy's share, at least one if there are several, and never the only
    /// one.
    var ejectionCapacity: Int {
        guard let outliers = policy.outliers, members.count > 1, outliers.largestShare > 0 else { return 0 }
        return min(members.count, max(1, Int(outliers.largestShare * Double(members.count))))
    }

    /// The unhealthy endpoint whose ejection ends first.
    var soonestReturn: Int? {
        func time(_ member: Member) -> Duration? {
            switch member.health {
            case .healthy: nil
            case .returning, .probing: .seconds(Int64.min)
            case .ejected(let until): until
            }
        }
        return members.indices.compactMap { index in time(members[index]).map { (index, $0) } }
            .min { $0.1 < $1.1 }?.0
    }

    /// Ejects the endpoint for a time that grows with the ejections before. A healthy endpoint is not ejected if too
    /// many endpoints are ejected already.
    mutating func eject(_ index: Int, _ random: Double, _ now: Duration) {
        guard let outliers = policy.outliers else { return }
        if members[index].health.isHealthy {
            guard !outliers.isDryRun else {
                counts.wouldEject += 1
                setHealth(of: index, .healthy(failuresInRow: 0))
                return
            }
            guard unhealthyCount < ejectionCapacity else {
                counts.sparedEjections += 1
                return
            }
        }
        let severity = min(members[index].severity + 1, 1_000_000)
        let time = min(outliers.baseEjection * severity, outliers.longestEjection)
        let span = time + time * (outliers.jitter * random.clamped(0...1, nan: 0))
        members[index].severity = severity
        members[index].era += 1
        members[index].successes = 0
        members[index].failures = 0
        setHealth(of: index, .ejected(until: now.clampedTime(plus: span)))
        counts.ejections += 1
    }

    /// The healthy endpoints whose success rate is too far below the mean, the worst first.
    func successRateOutliers(_ outliers: EndpointPolicy.Outliers) -> [Int] {
        guard let settings = outliers.successRate else { return [] }
        let rates = members.indices.compactMap { index -> (index: Int, rate: Double)? in
            let requests = members[index].successes + members[index].failures
            guard members[index].health.isHealthy, requests >= settings.minimumRequests else { return nil }
            return (index, Double(members[index].successes) / Double(requests))
        }
        guard rates.count >= settings.minimumEndpoints else { return [] }
        let mean = rates.reduce(0) { $0 + $1.rate } / Double(rates.count)
        let variance = rates.reduce(0) { $0 + ($1.rate - mean) * ($1.rate - mean) } / Double(rates.count)
        let threshold = mean - settings.factor * sqrt(variance)
        // The difference keeps equal rates together, whose deviation may be a little above 0 in doubles.
        return rates.filter { $0.rate < threshold - 1e-9 }.sorted { ($0.rate, $0.index) < ($1.rate, $1.index) }
            .map(\.index)
    }
}
