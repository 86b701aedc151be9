import Errand

/// Retries, their budget, and hedges. A policy of the program is the base: a key changes one member of it.
extension ConfigurationValues {
    func retry(over program: RetryPolicy?) -> RetryPolicy? {
        let base = program ?? RetryPolicy()
        let backoff = RetryBackoff(
            base: duration("retry.backoff.base").or(base.backoff.base),
            cap: duration("retry.backoff.cap").or(base.backoff.cap),
            jitter: number("retry.backoff.jitter").or(base.backoff.jitter))
        let policy = RetryPolicy(
            maxAttempts: count("retry.maxAttempts").or(base.maxAttempts), backoff: backoff,
            methods: retryMethods().or(base.methods), statusCodes: retryStatusCodes(over: base.statusCodes),
            failures: retryFailures(over: base.failures), excludedErrors: base.excludedErrors,
            retryAfterCap: duration("retry.retryAfterCap").orNil(base.retryAfterCap),
            attemptTimeout: duration("retry.attemptTimeout").orNil(base.attemptTimeout),
            maxRetryTime: duration("retry.maxRetryTime").orNil(base.maxRetryTime))
        return isOn("retry", by: program != nil) ? policy : nil
    }

    private func retryMethods() -> Given<RetryMethods> {
        guard case .value(let names) = list("retry.methods") else { return .absent }
        if names == ["idempotent"] { return .value(.idempotent) }
        if names == ["any"] { return .value(.any) }
        let methods: Given<[HTTPRequest.Method]> = list("retry.methods", of: "idempotent, any or a method such as GET")
        {
            // Methods are case-sensitive; a lower-case name would match no request.
            $0 == $0.uppercased() ? HTTPRequest.Method($0) : nil
        }
        return methods.map { .only(Set($0)) }
    }

    private func retryStatusCodes(over base: Set<Int>) -> Set<Int> {
        let codes: Given<[Int]> = list("retry.statusCodes", of: "a status such as 503") { text in
            ConfigurationText.count(text).flatMap { (100...599).contains($0) ? $0 : nil }
        }
        return Set(codes.orNil(Array(base)) ?? [])
    }

    private func retryFailures(over base: Set<ErrandError.TransientFailure>) -> Set<ErrandError.TransientFailure> {
        let words = ErrandError.TransientFailure.allCases.map(\.rawValue).joined(separator: ", ")
        let failures: Given<[ErrandError.TransientFailure]> = list("retry.failures", of: "one of \(words)") {
            ErrandError.TransientFailure(rawValue: $0)
        }
        return Set(failures.orNil(Array(base)) ?? [])
    }

    func budget(over program: RetryBudget.Policy?) -> RetryBudget.Policy? {
        let policy = budgetPolicy("budget", over: program ?? RetryBudget.Policy())
        return isOn("budget", by: program != nil) ? policy : nil
    }

    private func budgetPolicy(_ part: String, over base: RetryBudget.Policy) -> RetryBudget.Policy {
        RetryBudget.Policy(
            ratio: number(part + ".ratio").or(base.ratio),
            floorPerSecond: number(part + ".floorPerSecond").or(base.floorPerSecond),
            window: duration(part + ".window").or(base.window), isDryRun: flag(part + ".isDryRun").or(base.isDryRun))
    }

    func hedge(over program: HedgePolicy?) -> HedgePolicy? {
        let base = program ?? HedgePolicy()
        let policy = HedgePolicy(
            delay: hedgeDelay(over: base.delay), maxExtra: count("hedge.maxExtra").or(base.maxExtra),
            minimumSamples: count("hedge.minimumSamples").or(base.minimumSamples),
            window: duration("hedge.window").or(base.window),
            budget: budgetPolicy("hedge.budget", over: base.budget), isDryRun: flag("hedge.isDryRun").or(base.isDryRun))
        return isOn("hedge", by: program != nil) ? policy : nil
    }

    private func hedgeDelay(over base: HedgePolicy.Delay) -> HedgePolicy.Delay {
        let fixed = duration("hedge.delay")
        let percentile = number("hedge.percentile")
        let initial = duration("hedge.initialDelay")
        if case .value(let time) = fixed {
            if isSet("hedge.percentile") || isSet("hedge.initialDelay") {
                fail("hedge.delay", "is set together with a percentile; only one of them holds")
            }
            return .fixed(time)
        }
        var former = (share: 0.95, initial: Duration?.none)
        switch base {
        case .fixed:
            // The program's fixed delay stays, unless a key asks for something else.
            if case .absent = fixed, !isSet("hedge.percentile"), !isSet("hedge.initialDelay") { return base }
        case .percentile(let share, let time): former = (share, time)
        }
        return .percentile(percentile.or(former.share), initial: initial.orNil(former.initial))
    }
}
