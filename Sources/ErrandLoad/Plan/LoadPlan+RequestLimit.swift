extension LoadPlan {
    /// The most Poisson arrivals that are drawn before a run, to count them.
    private static let mostDrawn = 50_000_000.0

    /// How the shares divide ``requestLimit``.
    private enum Division {
        /// Each share has enough arrivals for an equal part.
        case equal
        /// A share may have fewer arrivals than an equal part. The value is the number of arrivals of each scenario.
        case byArrivals([UInt64])
        /// The same, with more arrivals than can be counted.
        case unknown
    }

    /// The part of ``requestLimit`` that this share sends; `nil`: there is no limit. The parts of all shares together are
    /// exactly the limit, or all requests of the plan if these are fewer.
    ///
    /// With arrivals of several scenarios a share may have fewer of them than an equal part of the limit, because each
    /// scenario is divided separately. The other shares then send the rest.
    package var ownRequestLimit: UInt64? {
        guard let requestLimit else { return nil }
        let equal = share.part(of: requestLimit)
        guard case .byArrivals(let totals) = division(of: requestLimit) else { return equal }
        var excess: UInt64 = 0
        var own: UInt64 = 0
        var spares: [UInt64] = []
        for index in 0..<share.count {
            let part = LoadShare.part(of: requestLimit, index: index, count: share.count)
            let arrivals = totals.reduce(0) { $0 + LoadShare.part(of: $1, index: index, count: share.count) }
            if index == share.index { own = min(part, arrivals) }
            excess += part - min(part, arrivals)
            spares.append(arrivals - min(part, arrivals))
        }
        // In order, so that each share computes the same.
        for spare in spares[..<share.index] { excess -= min(excess, spare) }
        return own + min(excess, spares[share.index])
    }

    /// Refuses a limit whose parts cannot be computed.
    func checkRequestLimit() throws(LoadPlanError) {
        guard let requestLimit else { return }
        guard requestLimit > 0, requestLimit <= 1 << 60 else {
            throw .invalidOption("requestLimit", scenario: nil, problem: "is \(requestLimit), expected 1 or more")
        }
        if case .unknown = division(of: requestLimit) {
            throw .invalidOption(
                "requestLimit", scenario: nil,
                problem:
                    "is \(requestLimit), which shares cannot divide among so many Poisson arrivals of several scenarios"
            )
        }
    }

    private func division(of limit: UInt64) -> Division {
        // With one scenario an equal part of the limit is at most an equal part of the arrivals.
        guard share.count > 1, scenarios.count > 1 else { return .equal }
        var schedules: [(schedule: LoadSchedule, spacing: ArrivalSpacing)] = []
        for scenario in scenarios {
            // The number of requests of users, and of iterations with several requests, depends on the time.
            guard case .arrivals(let stages, let spacing, _) = scenario.shape, scenario.sendsOneRequest else {
                return .equal
            }
            schedules.append((LoadSchedule(stages), spacing))
        }
        // Eight standard deviations fewer than the mean.
        let least = schedules.reduce(0.0) { sum, scenario in
            let mean = scenario.schedule.integral
            return sum + max(0, scenario.spacing == .poisson ? mean - 8 * mean.squareRoot() : mean)
        }
        let rounding = Double(share.count * (scenarios.count + 1))
        if least - rounding >= Double(limit) { return .equal }
        let drawn = schedules.reduce(0.0) { $0 + ($1.spacing == .poisson ? $1.schedule.integral : 0) }
        guard drawn <= Self.mostDrawn else { return .unknown }
        return .byArrivals(
            schedules.enumerated().map { number, scenario in
                scenario.schedule.arrivals(
                    scenario.spacing, seed: ScenarioLedger.seed(of: number, in: self))
            })
    }
}

extension LoadSchedule {
    /// The number of arrivals of all shares together.
    fileprivate func arrivals(_ spacing: ArrivalSpacing, seed: UInt64) -> UInt64 {
        // The same tolerance as in `time(of:)`.
        let end = integral * (1 - 1e-12)
        guard spacing == .poisson else { return UInt64(max(0, end.rounded(.up))) }
        var random = LoadRandom(seed: seed)
        var count: UInt64 = 0
        var value = random.exponential()
        while value < end {
            count += 1
            value += random.exponential()
        }
        return count
    }
}
