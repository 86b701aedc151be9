extension LoadPlan {
    /// Distinguishes plans whose shares must not be merged: plans with different requests, shapes, data, seeds or
    /// thresholds. The share and the start are not part of it, because the shares of one plan differ in them.
    package var fingerprint: String {
        var words = ["\(seed)", "\(warmUp.loadNanoseconds)", "\(gracePeriod.loadNanoseconds)"]
        words.append(requestLimit.map { "\($0)" } ?? "")
        for scenario in scenarios { words += scenario.words }
        words += thresholds.map { "\($0) \($0.aborts)" }
        // FNV-1a (Fowler, Noll, Vo), which is the same on every machine.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for word in words {
            for byte in word.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            // A byte that is in no text, so that words cannot run together.
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension LoadScenario {
    fileprivate var words: [String] {
        var words = ["scenario", name]
        switch shape {
        case .users(let stages): words += ["users"] + stages.map(\.word)
        case .arrivals(let stages, let spacing, let maxUsers):
            words += [spacing.rawValue, "\(maxUsers)"] + stages.map(\.word)
        }
        switch work {
        case .requests(let requests): words += requests.map { "\($0.weight) \($0.name)" }
        case .steps: words += namesOfSteps.map { $0.requests + $0.checks } ?? []
        }
        return words + data.map { "\($0.order) \($0.atEnd) \($0.count) \($0.name)" }
    }
}

extension LoadStage {
    fileprivate var word: String { "\(from) \(to) \(duration.loadNanoseconds)" }
}
