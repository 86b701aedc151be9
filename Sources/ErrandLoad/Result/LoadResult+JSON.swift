public import FoundationEssentials

extension LoadResult {
    /// The version of the JSON that ``json`` writes and ``init(json:)`` reads.
    public static let jsonFormat = 1

    /// The result as JSON on one line, in UTF-8, with members in a fixed order. ``init(json:)`` reads an equal result from
    /// it. Times are whole nanoseconds.
    ///
    /// | member | what |
    /// |---|---|
    /// | `format` | 1 |
    /// | `plan`, `interrupted`, `aborted_by`, `failures`, `fingerprint` | as ``plan``, ``isInterrupted``, ``abortedBy``, ``failures``, ``fingerprint`` |
    /// | `shares` | a list of `number` (from 1) and `count` |
    /// | `start`, `start_unix_nanoseconds` | ``start`` by ISO 8601 (only written), and since 1970 |
    /// | `duration_nanoseconds`, `interval_nanoseconds` | ``duration``, ``interval`` |
    /// | `requests` | a list of: `scenario`, `name`; `counts` (`due`, which is only written, `answered`, `failed`, `timed_out`, `unfinished`, `never_sent`); `statuses` by code; `errors` (`kind`, `phase`, `count`); `rejected`; `attempts`; `traffic` (`head_bytes_sent`, `body_bytes_sent`, `head_bytes_received`, `body_bytes_received`); the histograms `latency`, `user_wait`, `send_delay`, `service_time`; `phases` (the histograms `resolve`, `connect`, `tls`, `first_byte`, `body`); `intervals` |
    /// | `intervals` | a list of: `index`, `counts`, `rejected`, `traffic`, `latency` (HdrHistogram V2, compressed, Base64) |
    /// | a histogram | `count`, `mean_nanoseconds`, `p50_nanoseconds` to `p999_nanoseconds` (only written); `min_nanoseconds`, `max_nanoseconds` (exact); `hdr` (HdrHistogram V2, compressed, Base64). `null`: no values |
    /// | `scenarios` | a list of: `name`, `started`, `completed`, `failed`, `interrupted`, `never_started`, `peak_users`, `resilience` (or `null`: `retries` by reason, `hedges`, `hedges_won`, `refused_by_breaker`) |
    /// | `checks` | a list of: `scenario`, `name`, `passed`, `failed` |
    /// | `generators` | a list of: `user_seconds`, `system_seconds`, `cores`, `peak_resident_bytes`, the histogram `lag`, `peak_descriptors`, `descriptor_limit`, `connections`, `loops`, `limits` |
    /// | `limits` | a list of: `kind` (`cpu`, `late_sends`, `loop_lag`, `descriptors`, `never_sent`, `users`) with `share`, `p99_nanoseconds`, `max_nanoseconds`, `refused` and `limit`, `count`, `scenario` and `count` |
    /// | `thresholds` | a list of: `threshold` (``LoadThreshold/description``), `aborts`, `measured` (or `null`), `met` |
    public var json: Data { Data((LoadResultWriter(result: self).json.text + "\n").utf8) }
}

/// Makes the JSON of a result.
private struct LoadResultWriter {
    let result: LoadResult

    var json: LoadJSON {
        .object([
            ("format", .number(LoadResult.jsonFormat)),
            ("plan", .string(result.plan)),
            ("fingerprint", .optional(result.fingerprint)),
            ("shares", .array(result.shares.map(Self.share))),
            ("start", .string(result.start.formatted(.iso8601))),
            ("start_unix_nanoseconds", .number(LoadInstant.unixNanoseconds(result.start))),
            ("duration_nanoseconds", .number(LoadInstant.nanoseconds(result.duration))),
            ("interval_nanoseconds", .number(LoadInstant.nanoseconds(result.interval))),
            ("interrupted", .bool(result.isInterrupted)),
            ("aborted_by", .optional(result.abortedBy)),
            ("requests", .array(result.requests.map(Self.request))),
            ("scenarios", .array(result.scenarios.map(Self.scenario))),
            ("checks", .array(result.checks.map(Self.check))),
            ("generators", .array(result.generators.map(Self.generator))),
            ("thresholds", .array(result.thresholds.map(Self.threshold))),
            ("failures", .array(result.failures.map { .string($0) })),
        ])
    }

    private static func share(_ share: LoadShare) -> LoadJSON {
        .object([("number", .number(share.index + 1)), ("count", .number(share.count))])
    }

    private static func request(_ request: RequestStatistics) -> LoadJSON {
        let statuses = request.statuses.sorted { $0.key < $1.key }
        let errors = request.errors.sorted { $0.key < $1.key }
        return .object([
            ("scenario", .string(request.scenario)),
            ("name", .string(request.name)),
            ("counts", counts(request.counts)),
            ("statuses", .object(statuses.map { (String($0.key), .number($0.value)) })),
            ("errors", .array(errors.map { error($0.key, $0.value) })),
            ("rejected", .number(request.rejected)),
            ("attempts", .number(request.attempts)),
            ("traffic", traffic(request.traffic)),
            ("latency", histogram(request.latency)),
            ("user_wait", histogram(request.userWait)),
            ("send_delay", histogram(request.sendDelay)),
            ("service_time", histogram(request.serviceTime)),
            ("phases", phases(request.phases)),
            ("intervals", .array(request.intervals.map(interval))),
        ])
    }

    private static func counts(_ counts: LoadCounts) -> LoadJSON {
        .object([
            ("due", .number(counts.due)),
            ("answered", .number(counts.answered)),
            ("failed", .number(counts.failed)),
            ("timed_out", .number(counts.timedOut)),
            ("unfinished", .number(counts.unfinished)),
            ("never_sent", .number(counts.neverSent)),
        ])
    }

    private static func error(_ error: LoadError, _ count: UInt64) -> LoadJSON {
        .object([
            ("kind", .string(error.kind)), ("phase", .string(error.phase.rawValue)), ("count", .number(count)),
        ])
    }

    private static func traffic(_ traffic: LoadTraffic) -> LoadJSON {
        .object([
            ("head_bytes_sent", .number(traffic.headBytesSent)),
            ("body_bytes_sent", .number(traffic.bodyBytesSent)),
            ("head_bytes_received", .number(traffic.headBytesReceived)),
            ("body_bytes_received", .number(traffic.bodyBytesReceived)),
        ])
    }

    private static func phases(_ phases: LoadPhases) -> LoadJSON {
        .object([
            ("resolve", histogram(phases.resolve)),
            ("connect", histogram(phases.connect)),
            ("tls", histogram(phases.tls)),
            ("first_byte", histogram(phases.firstByte)),
            ("body", histogram(phases.body)),
        ])
    }

    private static func interval(_ interval: LoadInterval) -> LoadJSON {
        .object([
            ("index", .number(interval.index)),
            ("counts", counts(interval.counts)),
            ("rejected", .number(interval.rejected)),
            ("traffic", traffic(interval.traffic)),
            ("latency", interval.latency.isEmpty ? .null : .base64(interval.latency.base64)),
        ])
    }

    private static func histogram(_ histogram: LatencyHistogram) -> LoadJSON {
        guard histogram.count > 0 else { return .null }
        let compact = CompactHistogram(histogram)
        return .object([
            ("count", .number(histogram.count)),
            ("min_nanoseconds", .number(histogram.min)),
            ("mean_nanoseconds", .number(histogram.mean.rounded())),
            ("p50_nanoseconds", .number(compact.value(at: 50))),
            ("p90_nanoseconds", .number(compact.value(at: 90))),
            ("p99_nanoseconds", .number(compact.value(at: 99))),
            ("p999_nanoseconds", .number(compact.value(at: 99.9))),
            ("max_nanoseconds", .number(histogram.exactMax)),
            ("hdr", .base64(compact.base64)),
        ])
    }

    private static func scenario(_ scenario: ScenarioStatistics) -> LoadJSON {
        .object([
            ("name", .string(scenario.name)),
            ("started", .number(scenario.started)),
            ("completed", .number(scenario.completed)),
            ("failed", .number(scenario.failed)),
            ("interrupted", .number(scenario.interrupted)),
            ("never_started", .number(scenario.neverStarted)),
            ("peak_users", .number(scenario.peakUsers)),
            ("resilience", scenario.resilience.map(resilience) ?? .null),
        ])
    }

    private static func resilience(_ resilience: LoadResilience) -> LoadJSON {
        let retries = resilience.retries.sorted { $0.key < $1.key }
        return .object([
            ("retries", .object(retries.map { ($0.key, .number($0.value)) })),
            ("hedges", .number(resilience.hedges)),
            ("hedges_won", .number(resilience.hedgesWon)),
            ("refused_by_breaker", .number(resilience.refusedByBreaker)),
        ])
    }

    private static func check(_ check: CheckStatistics) -> LoadJSON {
        .object([
            ("scenario", .string(check.scenario)),
            ("name", .string(check.name)),
            ("passed", .number(check.passed)),
            ("failed", .number(check.failed)),
        ])
    }

    private static func generator(_ generator: GeneratorHealth) -> LoadJSON {
        .object([
            ("user_seconds", .number(generator.userSeconds)),
            ("system_seconds", .number(generator.systemSeconds)),
            ("cores", .number(generator.cores)),
            ("peak_resident_bytes", .number(generator.peakResidentBytes)),
            ("lag", histogram(generator.lag)),
            ("peak_descriptors", .number(generator.peakDescriptors)),
            ("descriptor_limit", .number(generator.descriptorLimit)),
            ("connections", .number(generator.connections)),
            ("loops", .number(generator.loops)),
            ("limits", .array(generator.limits.map(limit))),
        ])
    }

    private static func limit(_ limit: GeneratorHealth.Limit) -> LoadJSON {
        let members: [(key: String, value: LoadJSON)]
        switch limit {
        case .cpu(let share):
            members = [("kind", .string("cpu")), ("share", .number(share))]
        case .lateSends(let p99):
            members = [("kind", .string("late_sends")), ("p99_nanoseconds", .number(p99))]
        case .loopLag(let max):
            members = [("kind", .string("loop_lag")), ("max_nanoseconds", .number(max))]
        case .descriptors(let refused, let limit):
            members = [("kind", .string("descriptors")), ("refused", .number(refused)), ("limit", .number(limit))]
        case .neverSent(let count):
            members = [("kind", .string("never_sent")), ("count", .number(count))]
        case .users(let scenario, let count):
            members = [("kind", .string("users")), ("scenario", .string(scenario)), ("count", .number(count))]
        }
        return .object(members)
    }

    private static func threshold(_ outcome: ThresholdOutcome) -> LoadJSON {
        .object([
            ("threshold", .string(outcome.threshold.description)),
            ("aborts", .bool(outcome.threshold.aborts)),
            ("measured", outcome.measured.map { LoadJSON.number($0) } ?? .null),
            ("met", .bool(outcome.isMet)),
        ])
    }
}
