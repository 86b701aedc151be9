import Errand

/// Breakers, limits and the deadline's field.
extension ConfigurationValues {
    func readResilience(_ configuration: inout Client.Configuration) {
        let program = configuration.resilience
        let base = program ?? Resilience()
        let made = Resilience(
            retry: retry(over: base.retry), budget: budget(over: base.budget), hedge: hedge(over: base.hedge),
            breaker: breaker(over: base.breaker), concurrency: concurrency(over: base.concurrency),
            rate: rate(over: base.rate), deadlineHeader: deadlineHeader(over: base.deadlineHeader))
        // A program without resilience needs no layer if no part is set: each request would pass through it.
        if program != nil || made != Resilience(budget: made.budget) {
            configuration.resilience = made
        } else if made.budget != nil, !hasPart("retry"), !hasPart("hedge") {
            refuse(part: "budget", "is set, and there are neither retries nor hedges")
        }
        if case .value(let obeys) = flag("obeysDeadlines") { configuration.obeysDeadlines = obeys }
    }

    private func breaker(over program: BreakerPolicy?) -> BreakerPolicy? {
        let base = program ?? BreakerPolicy()
        let longest = duration("breaker.longestOpenTime").or(base.longestOpenTime)
        let minimum = count("breaker.minimumCalls").or(base.minimumCalls)
        let policy = BreakerPolicy(
            window: breakerWindow(over: base.window), failureRate: number("breaker.failureRate").or(base.failureRate),
            slowCallRate: number("breaker.slowCallRate").or(base.slowCallRate),
            slowCallDuration: duration("breaker.slowCallDuration").orNil(base.slowCallDuration),
            minimumCalls: minimum,
            openTime: duration("breaker.openTime").or(base.openTime),
            longestOpenTime: longest,
            jitter: number("breaker.jitter").or(base.jitter),
            halfOpenPermits: count("breaker.halfOpenPermits").or(base.halfOpenPermits),
            permitLifetime: duration("breaker.permitLifetime").or(base.permitLifetime),
            isDryRun: flag("breaker.isDryRun").or(base.isDryRun))
        // The policy limits these values silently.
        if policy.longestOpenTime != longest, isSet("breaker.longestOpenTime") {
            fail("breaker.longestOpenTime", "is shorter than breaker.openTime")
        }
        if policy.minimumCalls != minimum, isSet("breaker.minimumCalls") {
            fail("breaker.minimumCalls", "is above breaker.windowCalls, so the breaker would never open")
        }
        return isOn("breaker", by: program != nil) ? policy : nil
    }

    private func breakerWindow(over base: BreakerPolicy.Window) -> BreakerPolicy.Window {
        let time = duration("breaker.window")
        switch count("breaker.windowCalls") {
        case .value(let calls):
            if isSet("breaker.window") {
                fail("breaker.windowCalls", "is set together with breaker.window; only one of them holds")
            }
            return .count(calls)
        case .none:
            if case .count = base { return .time(time.or(.seconds(10))) }
        case .absent: break
        }
        if case .value(let time) = time { return .time(time) }
        return base
    }

    private func concurrency(over program: ConcurrencyLimit.Settings?) -> ConcurrencyLimit.Settings? {
        let base = program ?? ConcurrencyLimit.Settings()
        let settings = ConcurrencyLimit.Settings(
            limit: count("concurrency.limit").or(base.limit), adaptive: adaptive(over: base.adaptive),
            queueCapacity: count("concurrency.queueCapacity").or(base.queueCapacity),
            longestWait: duration("concurrency.longestWait").orNil(base.longestWait),
            keyCapacity: count("concurrency.keyCapacity").or(base.keyCapacity),
            isDryRun: flag("concurrency.isDryRun").or(base.isDryRun))
        return isOn("concurrency", by: program != nil) ? settings : nil
    }

    private func adaptive(over program: AdaptiveLimit.Settings?) -> AdaptiveLimit.Settings? {
        enum Algorithm { case none, gradient2, aimd }
        let base = program ?? AdaptiveLimit.Settings()
        var gradient = AdaptiveLimit.Gradient2()
        var aimd = AdaptiveLimit.AIMD()
        var present = program == nil ? Algorithm.none : .gradient2
        switch base.algorithm {
        case .gradient2(let settings): gradient = settings
        case .aimd(let settings): (aimd, present) = (settings, .aimd)
        }
        gradient = self.gradient(over: gradient)
        aimd = AdaptiveLimit.AIMD(
            backoff: number("concurrency.aimd.backoff").or(aimd.backoff),
            timeout: duration("concurrency.aimd.timeout").or(aimd.timeout))
        let words: KeyValuePairs<String, Algorithm> = ["none": .none, "gradient2": .gradient2, "aimd": .aimd]
        let given = choice("concurrency.adaptive.algorithm", words)
        present = given.or(present)
        let lowest = count("concurrency.adaptive.lowest").or(base.bounds.lowerBound)
        let highest = count("concurrency.adaptive.highest").or(base.bounds.upperBound)
        let initial = count("concurrency.adaptive.initial").or(min(max(base.initial, lowest), max(lowest, highest)))
        let window = duration("concurrency.adaptive.window").or(base.window)
        let minimumSamples = count("concurrency.adaptive.minimumSamples").or(base.minimumSamples)
        guard lowest <= highest else {
            fail("concurrency.adaptive.lowest", "is \(lowest), above concurrency.adaptive.highest, \(highest)")
            return program
        }
        guard (lowest...highest).contains(initial) else {
            fail(
                "concurrency.adaptive.initial",
                "is \(initial), and concurrency.adaptive.lowest and .highest are \(lowest) and \(highest)")
            return program
        }
        let algorithm: AdaptiveLimit.Algorithm
        switch present {
        case .none:
            // With the word none the other keys are allowed, but have no effect, as those of a part that is not
            // enabled.
            guard case .absent = given else { return nil }
            for part in ["concurrency.adaptive", "concurrency.gradient2", "concurrency.aimd"] {
                refuse(part: part, "is set, and concurrency.adaptive.algorithm is not")
            }
            return nil
        case .gradient2:
            refuse(part: "concurrency.aimd", "is set, and concurrency.adaptive.algorithm is gradient2")
            algorithm = .gradient2(gradient)
        case .aimd:
            refuse(part: "concurrency.gradient2", "is set, and concurrency.adaptive.algorithm is aimd")
            algorithm = .aimd(aimd)
        }
        return AdaptiveLimit.Settings(
            algorithm, initial: initial, bounds: lowest...highest, window: window, minimumSamples: minimumSamples)
    }

    private func gradient(over base: AdaptiveLimit.Gradient2) -> AdaptiveLimit.Gradient2 {
        AdaptiveLimit.Gradient2(
            queueSize: count("concurrency.gradient2.queueSize").or(base.queueSize),
            tolerance: number("concurrency.gradient2.tolerance").or(base.tolerance),
            smoothing: number("concurrency.gradient2.smoothing").or(base.smoothing),
            longWindow: count("concurrency.gradient2.longWindow").or(base.longWindow),
            dropBackoff: number("concurrency.gradient2.dropBackoff").or(base.dropBackoff))
    }

    private func rate(over program: RateLimit.Settings?) -> RateLimit.Settings? {
        let base = program ?? RateLimit.Settings(rate: nil)
        let permits = count("rate.permits").orNil(base.rate?.permits)
        let period = duration("rate.period").or(base.rate?.period ?? .seconds(1))
        if permits == nil, !isSet("rate.permits") { refuse(["rate.period"], "is set, and rate.permits is not") }
        let rate = permits.map { RateLimit.Rate($0, per: period) }
        if let rate, rate.period != period {
            let name = isSet("rate.period") ? "rate.period" : "rate.permits"
            fail(name, "is too much: a permit takes a microsecond of rate.period, which is \(period)")
        }
        let settings = RateLimit.Settings(
            rate: rate, burst: count("rate.burst").or(base.burst),
            longestWait: duration("rate.longestWait").or(base.longestWait),
            longestPause: duration("rate.longestPause").or(base.longestPause),
            keyCapacity: count("rate.keyCapacity").or(base.keyCapacity),
            isDryRun: flag("rate.isDryRun").or(base.isDryRun))
        return isOn("rate", by: program != nil) ? settings : nil
    }

    private func deadlineHeader(over base: DeadlineHeader?) -> DeadlineHeader? {
        switch text("deadlineHeader") {
        case .absent: return base
        case .none: return nil
        case .value(let name):
            if name.lowercased() == "grpc-timeout" { return .grpcTimeout }
            if let name = HTTPField.Name(name) { return .milliseconds(name) }
            fail("deadlineHeader", "\(shown("deadlineHeader")) is not the name of a header field")
            return base
        }
    }
}
