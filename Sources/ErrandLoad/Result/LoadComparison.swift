/// Two results side by side, with a verdict for each figure that takes the noise of the runs into account.
///
/// A figure is better or worse only if three things hold. Otherwise the verdict is ``Verdict/noDifference``.
///
/// 1. The change is at least ``smallestChange`` of the value before.
/// 2. The confidence intervals (99 %) of the two values do not overlap. For a percentile the interval is that of order
///    statistics: the values whose ranks the binomial distribution gives. For the share of errors it is Wilson's
///    interval. Because the errors of neighbouring requests usually have one cause, its number of requests is the
///    number of independent requests with which the parts of 3. would have the same variance.
/// 3. Each run is divided into up to 30 parts of equal length, and the figures of the parts differ by the test of Mann
///    and Whitney (two-sided, p < 0.01). Neighbouring requests depend on each other, which makes the intervals of 2.
///    too narrow. Because a part is long, this has little weight here.
///
/// The rate is that of the measured part. The other figures also contain what came after it: timeouts, and requests
/// that did not end or were never sent. If so many of these lie outside the parts that they could decide the verdict,
/// the test of 3. says nothing about them, and is replaced by intervals of 99.99 %.
///
/// Errors that come together in a few seconds of one run are few events, which the test of 3. cannot tell from chance. If the
/// runs would not differ without these seconds, and the other run has nothing like them, the verdict is
/// ``Verdict/differsInBursts``, and ``Figure/bursts`` lists the bursts. The verdict is neither better nor worse,
/// because one event is no evidence that the next run will have such an event.
///
/// With fewer than eight parts, or fewer than ten requests beyond a percentile, the verdict is
/// ``Verdict/tooLittleData``. If the parts would each have fewer than five requests beyond a percentile, intervals of
/// 99.99 % replace the test.
///
/// The limits: parts are not quite independent either if the server drifts during a run, or if its disturbances last
/// longer than a part. Two runs cannot show the noise from run to run (another machine, another day, a cold cache).
/// With many names some figures differ by chance: one in a hundred where nothing has changed. With arrivals the rate is
/// that of the plan.
public struct LoadComparison: Sendable, Equatable {
    /// A verdict on the second result.
    public enum Verdict: String, Sendable, Hashable, Codable, CaseIterable {
        case better
        case worse
        case noDifference = "no_difference"
        /// One run has errors that the other one does not have, in a few seconds: see ``Figure/bursts``. Neither better nor
        /// worse.
        case differsInBursts = "differs_in_bursts"
        /// A verdict needs a longer run or more requests.
        case tooLittleData = "too_little_data"
    }

    /// What is compared.
    public enum Measure: String, Sendable, Hashable, Codable, CaseIterable {
        /// Answered requests per second.
        case rate
        /// The share of requests, 0 to 1, that were not answered or were rejected.
        case errors
        case p50, p90, p99
        /// The 99.9th percentile.
        case p999

        /// The percentile; `nil`: not a latency.
        public var percentile: Double? {
            switch self {
            case .rate, .errors: nil
            case .p50: 50
            case .p90: 90
            case .p99: 99
            case .p999: 99.9
            }
        }
    }

    /// A value with its confidence interval.
    public struct Value: Sendable, Equatable {
        /// Per second, as a share, or in nanoseconds.
        public var value: Double
        /// The confidence interval in the same unit.
        public var low: Double
        /// Its upper end.
        public var high: Double
    }

    /// Errors that came together.
    public struct Burst: Sendable, Equatable {
        /// When the first interval with them began, since the start of the measured part.
        public var start: Duration
        /// The length of the intervals with them.
        public var duration: Duration
        /// Requests that counted as errors.
        public var errors: UInt64
        /// Requests that ended in these intervals.
        public var requests: UInt64
    }

    /// The errors of a run.
    public struct Errors: Sendable, Equatable {
        /// Requests that were not answered or were rejected.
        public var errors: UInt64
        /// All requests that were due.
        public var requests: UInt64
    }

    /// One measure of one name.
    public struct Figure: Sendable, Equatable {
        /// What is compared.
        public var measure: Measure
        /// The value in the first result; `nil`: nothing was measured.
        public var before: Value?
        /// The value in the second result.
        public var after: Value?
        /// The probability that the parts differ like this by chance; `nil`: there are too few parts for the test, or
        /// requests outside the parts could decide the verdict.
        public var chance: Double?
        /// The verdict on the second result.
        public var verdict: Verdict
        /// For ``Measure/errors``: the bursts without which the run with the larger share would not differ from the
        /// other one, in the order of time, at most six. Empty if there are none, or if the verdict is better or worse.
        public var bursts: [Burst] = []

        /// The change as a share of the value before; `nil`: a value is missing, or the value before is 0.
        public var change: Double? {
            guard let before, let after, before.value > 0 else { return nil }
            return after.value / before.value - 1
        }
    }

    /// The figures of one name.
    public struct Row: Sendable, Equatable {
        /// The scenario; empty for all requests.
        public var scenario: String
        /// The name of the requests; `all` for all requests.
        public var name: String
        /// One for each ``Measure``.
        public var figures: [Figure]
        /// The errors of the first result.
        public var errorsBefore: Errors
        /// The errors of the second result.
        public var errorsAfter: Errors
    }

    /// The smallest change that counts, as a share. Default: 0.02.
    public let smallestChange: Double
    /// All requests, then each name that both results have, in the order of the first result. If both results have the
    /// same single name, only that name.
    public let rows: [Row]
    /// `scenario/name` of the requests that only the first result has.
    public let onlyBefore: [String]
    /// `scenario/name` of the requests that only the second result has.
    public let onlyAfter: [String]
    /// The reasons why the figures say less than they seem to: one sentence for each.
    public let remarks: [String]
    /// Whether the second run says too little: a threshold ended it early, or it lacks a request name of the first run.
    public let isIncomplete: Bool

    /// Compares `after` with `before`.
    public init(before: LoadResult, after: LoadResult, smallestChange: Double = 0.02) {
        self.smallestChange = smallestChange
        func path(_ request: RequestStatistics) -> String { request.scenario + "/" + request.name }
        let firsts = Dictionary(before.requests.map { (path($0), $0) }) { first, _ in first }
        let seconds = Dictionary(after.requests.map { (path($0), $0) }) { first, _ in first }
        var pairs = [(before.total, after.total)]
        for request in before.requests {
            if let other = seconds[path(request)] { pairs.append((request, other)) }
        }
        if pairs.count == 2, before.requests.count == 1, after.requests.count == 1 { pairs.removeFirst() }
        rows = pairs.map { first, second in
            let samples = (LoadSample(first, of: before), LoadSample(second, of: after))
            return Row(
                scenario: first.scenario, name: first.name,
                figures: Measure.allCases.map {
                    Self.figure($0, before: samples.0, after: samples.1, smallestChange: smallestChange)
                },
                errorsBefore: Errors(errors: first.errorCount, requests: first.counts.due),
                errorsAfter: Errors(errors: second.errorCount, requests: second.counts.due))
        }
        onlyBefore = before.requests.map(path).filter { seconds[$0] == nil }
        onlyAfter = after.requests.map(path).filter { firsts[$0] == nil }
        remarks =
            Self.remarks(on: before, "the first run") + Self.remarks(on: after, "the second run")
            + onlyBefore.map { "the second run has no requests '\($0)'" }
        isIncomplete = after.abortedBy != nil || !onlyBefore.isEmpty
    }

    private static func remarks(on result: LoadResult, _ run: String) -> [String] {
        var remarks: [String] = []
        if let threshold = result.abortedBy { remarks.append("\(run) was ended early by the threshold \(threshold)") }
        if result.isInterrupted { remarks.append("\(run) was interrupted by a signal") }
        if result.generators.contains(where: { !$0.limits.isEmpty }) {
            remarks.append("the generator was the limit in \(run): its figures are not only the server's")
        }
        let missing = result.missingShares.count
        if missing > 0 { remarks.append("\(run) is without \(missing) of its \(result.shares[0].count) parts") }
        return remarks
    }

    /// Whether any figure is worse. Bursts of errors are not.
    public var isWorse: Bool { rows.contains { $0.figures.contains { $0.verdict == .worse } } }

    private static func figure(
        _ measure: Measure, before: LoadSample, after: LoadSample, smallestChange: Double
    ) -> Figure {
        let parts = min(before.partCount(for: measure), after.partCount(for: measure))
        let isBeyond = before.hasMuchBeyondParts(measure) || after.hasMuchBeyondParts(measure)
        let hasTest = parts >= LoadSample.fewestParts && !isBeyond
        let deviations = hasTest || (measure.percentile == nil && !isBeyond) ? 2.576 : 3.891
        let first = before.value(measure, deviations: deviations, hasParts: hasTest)
        let second = after.value(measure, deviations: deviations, hasParts: hasTest)
        let chance =
            hasTest
            ? RankTest.chance(before.values(measure, parts: parts), after.values(measure, parts: parts)) : nil
        var figure = Figure(measure: measure, before: first, after: second, chance: chance, verdict: .tooLittleData)
        if measure == .errors, let first, let second {
            figure.bursts =
                second.value > first.value
                ? after.bursts(beside: before, deviations: 2.576) : before.bursts(beside: after, deviations: 2.576)
        }
        guard let first, let second, before.isEnough(for: measure), after.isEnough(for: measure) else { return figure }
        // Too many parts have no request.
        if hasTest, chance == nil { return figure }
        let change = abs(second.value - first.value)
        let isLarge = change >= smallestChange * first.value
        let isApart = first.high < second.low || second.high < first.low
        let isUnlikely = chance.map { $0 < 0.01 } ?? true
        guard isLarge, isApart, isUnlikely, change > 0 else {
            figure.verdict = isLarge && !figure.bursts.isEmpty ? .differsInBursts : .noDifference
            return figure
        }
        figure.bursts = []
        figure.verdict = (second.value > first.value) == (measure == .rate) ? .better : .worse
        return figure
    }
}
