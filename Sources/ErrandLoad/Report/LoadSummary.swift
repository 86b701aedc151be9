import Errand
import FoundationEssentials

/// Sentences and figures of a result that several reports use.
struct LoadSummary {
    let result: LoadResult

    var seconds: Double { result.duration.asSeconds }

    /// A rate per second of the measured part; 0 if that is empty.
    func rate(_ count: UInt64) -> Double { seconds > 0 ? Double(count) / seconds : 0 }

    /// Requests that were answered within the measured part, per second.
    func answeredRate(_ request: RequestStatistics) -> Double { rate(result.measured(request).answered) }

    /// How many iterations failed; `nil`: none.
    var failedIterations: String? {
        let failed = result.scenarios.reduce(0) { $0 + $1.failed }
        let ended = failed + result.scenarios.reduce(0) { $0 + $1.completed }
        guard failed > 0 else { return nil }
        return "\(NumberText.grouped(failed)) of \(NumberText.count(ended, "iteration")) failed"
    }

    /// The start and the duration of the run, and its part of the plan.
    var head: String {
        var text = "\(NumberText.seconds(seconds)) from \(result.start.formatted(.iso8601))"
        let count = result.shares.first?.count ?? 1
        if count > 1 {
            text += ", share \(result.shares.map { String($0.index + 1) }.joined(separator: ", ")) of \(count)"
            let missing = result.missingShares.map { String($0.index + 1) }
            if !missing.isEmpty { text += "; missing: \(missing.joined(separator: ", "))" }
        }
        if result.isInterrupted { text += "; interrupted by a signal" }
        return text
    }

    /// The counts as a sum, in which every request appears once.
    static func sum(_ counts: LoadCounts) -> String {
        "\(NumberText.grouped(counts.due)) due = \(NumberText.grouped(counts.answered)) answered"
            + " + \(NumberText.grouped(counts.failed)) failed + \(NumberText.grouped(counts.timedOut)) timed out"
            + " + \(NumberText.grouped(counts.unfinished)) unfinished"
            + " + \(NumberText.grouped(counts.neverSent)) never sent"
    }

    /// Whether a generator was the limit.
    var isLimited: Bool { result.generators.contains { !$0.limits.isEmpty } }

    /// Whether the generator or the server was the limit, in words: a sentence for each reason.
    var verdict: [String] {
        guard !result.generators.isEmpty else { return ["The generator was not observed."] }
        guard isLimited else { return ["The generator kept up: the figures are those of the server."] }
        var lines = ["The generator was the limit: the figures are its own, not only the server's."]
        for (index, generator) in result.generators.enumerated() {
            let place = result.generators.count > 1 ? "Generator \(index + 1): " : ""
            lines += generator.limits.map { place + Self.sentence($0) }
        }
        return lines
    }

    private static func sentence(_ limit: GeneratorHealth.Limit) -> String {
        switch limit {
        case .cpu(let share): "its threads used \(NumberText.percent(share)) of the CPU time that they can use."
        case .lateSends(let p99): "1 % of the requests left \(NumberText.time(p99)) late or more."
        case .loopLag(let max): "a loop or timer was \(NumberText.time(max)) late."
        case .descriptors(let refused, let limit):
            "\(NumberText.count(refused, "request")) got no descriptor; the limit (ulimit -n) is "
                + "\(NumberText.grouped(limit))."
        case .neverSent(let count): "\(NumberText.count(count, "due request")) never left."
        case .users(let scenario, let count):
            "all users of \(scenario) were busy when \(NumberText.count(count, "iteration")) should have begun."
        }
    }

    /// One line for each generator.
    var generators: [String] {
        result.generators.map { generator in
            "\(NumberText.count(generator.loops, "loop")), \(NumberText.count(generator.cores, "core")), "
                + "CPU \(NumberText.seconds(generator.userSeconds)) user "
                + "+ \(NumberText.seconds(generator.systemSeconds)) system, "
                + "\(NumberText.bytes(Double(generator.peakResidentBytes))) resident, "
                + "lag p99 \(NumberText.time(generator.lag.value(at: 99))), max \(NumberText.time(generator.lag.max)), "
                + "\(NumberText.count(generator.connections, "connection")), "
                + "\(NumberText.grouped(generator.peakDescriptors)) of "
                + "\(NumberText.count(generator.descriptorLimit, "descriptor"))"
        }
    }

    /// The scenarios whose clients have resilience. `retries`: the sum over all reasons.
    var resilience: [(scenario: String, retries: UInt64, counts: LoadResilience)] {
        result.scenarios.compactMap { scenario in
            scenario.resilience.map { counts in
                (scenario: scenario.name, retries: counts.retries.values.reduce(0, +), counts: counts)
            }
        }
    }

    static func path(_ scenario: String, _ name: String) -> String { scenario.isEmpty ? name : scenario + "/" + name }

    /// Attempts on the wire for each request that was sent; `nil`: no request was sent.
    static func amplification(_ request: RequestStatistics) -> Double? {
        let sent = request.counts.due - request.counts.neverSent
        return sent > 0 ? Double(request.attempts) / Double(sent) : nil
    }

    /// The measured length of an interval in seconds. The last interval may be cut by the end of the measured part. The
    /// intervals after it, in the grace period, are whole.
    func length(ofInterval index: Int) -> Double {
        let length = result.interval.asSeconds
        let left = seconds - Double(index) * length
        return left > 0 ? min(left, length) : length
    }

    /// The verdict about a figure, in words.
    static func words(_ figure: LoadComparison.Figure) -> String {
        guard figure.verdict == .differsInBursts else { return words(figure.verdict) }
        return figure.bursts.count == 1 ? "differs, in one burst" : "differs, in \(figure.bursts.count) bursts"
    }

    /// A verdict of a comparison, in words.
    static func words(_ verdict: LoadComparison.Verdict) -> String {
        switch verdict {
        case .better: "better"
        case .worse: "worse"
        case .noDifference: "no difference"
        case .differsInBursts: "differ in bursts"
        case .tooLittleData: "too little data"
        }
    }

    /// The bursts of errors that one run has and the other one has not; `nil`: there are none.
    static func bursts(_ row: LoadComparison.Row) -> String? {
        let bursts = row.figures.flatMap(\.bursts)
        guard !bursts.isEmpty else { return nil }
        func text(_ errors: LoadComparison.Errors) -> String {
            "\(NumberText.grouped(errors.errors)) of \(NumberText.grouped(errors.requests))"
        }
        func times(_ burst: LoadComparison.Burst) -> String {
            "\(NumberText.seconds(burst.duration.asSeconds)) at \(clock(burst.start))"
        }
        let (before, after) = (row.errorsBefore, row.errorsAfter)
        let isAfter =
            Double(after.errors) * Double(before.requests) > Double(before.errors) * Double(after.requests)
        let errors = bursts.reduce(0) { $0 + $1.errors }
        let amount = errors == (isAfter ? after : before).errors ? "all" : NumberText.grouped(errors)
        let place =
            bursts.count == 1
            ? "within \(times(bursts[0]))"
            : "in \(bursts.count) bursts: " + bursts.map(times).joined(separator: ", ")
        return
            "errors: \(text(before)) -> \(text(after)), \(amount) \(place) of the \(isAfter ? "second" : "first") run"
    }

    /// `75 s` as `1:15`.
    private static func clock(_ time: Duration) -> String {
        let seconds = time.components.seconds
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = "\(seconds >= 3600 ? two(seconds / 60 % 60) : "\(seconds / 60)"):\(two(seconds % 60))"
        return seconds >= 3600 ? "\(seconds / 3600):\(minutes)" : minutes
    }

    static func text(_ value: Double, _ measure: LoadComparison.Measure) -> String {
        switch measure {
        case .rate: NumberText.significant(value) + "/s"
        case .errors: NumberText.percent(value)
        default: NumberText.time(value)
        }
    }

    static func change(_ figure: LoadComparison.Figure) -> String {
        guard let change = figure.change else { return "-" }
        return (change >= 0 ? "+" : "") + NumberText.short(change * 100, 1) + " %"
    }

    static func name(_ measure: LoadComparison.Measure) -> String { measure == .p999 ? "p99.9" : measure.rawValue }
}
