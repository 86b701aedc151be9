import Errand
public import FoundationEssentials

extension LoadResult {
    /// The largest JSON that ``init(json:)`` reads, in bytes: 1 GiB, which is enough for a run of a day with ten names.
    public static let maximumJSONLength = 1 << 30

    /// Reads JSON that ``json`` has written, also that of a later version with the same ``jsonFormat``: unknown members
    /// are ignored. The JSON is not trusted: sizes and counts are bounded, and every other problem is an error, too.
    public init(json: Data) throws(LoadResultError) {
        try self.init(json: json, mostValues: Self.maximumValues)
    }

    /// The values that the histograms of all intervals may have together: 268 million, of about 3 bytes each. A run of a
    /// day with ten names has at most 3,600 intervals of some thousand values for each name.
    package static let maximumValues = 1 << 28

    /// `mostValues`: as ``maximumValues``.
    package init(json: Data, mostValues: Int) throws(LoadResultError) {
        guard json.count <= Self.maximumJSONLength else {
            throw LoadResultError(path: "", problem: "more than \(Self.maximumJSONLength) bytes")
        }
        let value: JSONValue
        do {
            value = try JSONReader.value(JSONValue.self, from: json, using: SharedCoders.jsonDecoder)
        } catch DecodingError.dataCorrupted(let context) {
            throw LoadResultError(path: "", problem: "the text is not JSON: \(context.debugDescription)")
        } catch {
            throw LoadResultError(path: "", problem: "the text is not JSON")
        }
        guard value.object != nil else { throw LoadResultError(path: "", problem: "an object is expected") }
        var reader = LoadResultReader(valuesLeft: mostValues)
        self = try reader.result(LoadJSONMember(value: value, path: ""))
    }
}

/// Makes a result of its JSON.
private struct LoadResultReader {
    /// The buckets that histograms may still have, of 8 bytes each: a short text can stand for a large histogram.
    private var bucketsLeft = 1 << 27
    /// The values that histograms of intervals may still have: a short text can stand for many here, too.
    private var valuesLeft: Int

    init(valuesLeft: Int) {
        self.valuesLeft = valuesLeft
    }

    private static let maximumIntervals: Int64 = 10_000_000

    mutating func result(_ json: LoadJSONMember) throws(LoadResultError) -> LoadResult {
        let format = try json["format"].integer(0...Int64.max)
        guard format == LoadResult.jsonFormat else {
            throw json["format"].failure("version \(format) is not known, only \(LoadResult.jsonFormat)")
        }
        let bound: Int64 = 9_000_000_000_000_000_000
        var result = LoadResult(
            plan: try json["plan"].text(),
            start: LoadInstant.date(unixNanoseconds: try json["start_unix_nanoseconds"].integer(-bound...bound)),
            duration: .nanoseconds(try json["duration_nanoseconds"].integer(0...bound)))
        result.interval = .nanoseconds(try json["interval_nanoseconds"].integer(1...bound))
        result.isInterrupted = try json["interrupted"].flag()
        if !json["fingerprint"].isNull { result.fingerprint = try json["fingerprint"].text() }
        if !json["aborted_by"].isNull { result.abortedBy = try json["aborted_by"].text() }
        result.shares = []
        for share in try json["shares"].elements(atMost: 10_000) { result.shares.append(try self.share(share)) }
        for request in try json["requests"].elements(atMost: 10_000) {
            result.requests.append(try self.request(request))
        }
        for scenario in try json["scenarios"].elements(atMost: 10_000) {
            result.scenarios.append(try self.scenario(scenario))
        }
        for check in try json["checks"].elements(atMost: 100_000) { result.checks.append(try self.check(check)) }
        for generator in try json["generators"].elements(atMost: 10_000) {
            result.generators.append(try self.generator(generator))
        }
        for threshold in try json["thresholds"].elements(atMost: 10_000) {
            result.thresholds.append(try self.threshold(threshold))
        }
        for failure in try json["failures"].elements(atMost: 1000) { result.failures.append(try failure.text()) }
        guard result.magnitude <= LoadResult.maximumMagnitude else {
            throw LoadResultError(path: "requests", problem: "the counts are too large")
        }
        return result
    }

    private func share(_ json: LoadJSONMember) throws(LoadResultError) -> LoadShare {
        let number = try json["number"].int()
        guard let share = LoadShare(number: number, of: try json["count"].int()) else {
            throw json.failure("a share has a number from 1 to its count, and a count up to 10000")
        }
        return share
    }

    private mutating func request(_ json: LoadJSONMember) throws(LoadResultError) -> RequestStatistics {
        var request = RequestStatistics(scenario: try json["scenario"].text(), name: try json["name"].text())
        request.counts = try counts(json["counts"])
        for (name, member) in try json["statuses"].members() {
            guard let code = Int(name), (0...999).contains(code) else {
                throw member.failure("this is not a status code")
            }
            request.statuses[code] = try member.count()
        }
        for error in try json["errors"].elements(atMost: 100_000) {
            guard let phase = LoadError.Phase(rawValue: try error["phase"].text()) else {
                throw error["phase"].failure("this phase is not known")
            }
            let kind = LoadError(kind: try error["kind"].text(), phase: phase)
            guard request.errors.updateValue(try error["count"].count(), forKey: kind) == nil else {
                throw error.failure("the same kind and phase as before")
            }
        }
        request.rejected = try json["rejected"].count()
        request.attempts = try json["attempts"].count()
        request.traffic = try traffic(json["traffic"])
        request.latency = try histogram(json["latency"])
        // Earlier versions did not write the member.
        if !json["user_wait"].isNull { request.userWait = try histogram(json["user_wait"]) }
        request.sendDelay = try histogram(json["send_delay"])
        request.serviceTime = try histogram(json["service_time"])
        let phases = json["phases"]
        request.phases.resolve = try histogram(phases["resolve"])
        request.phases.connect = try histogram(phases["connect"])
        request.phases.tls = try histogram(phases["tls"])
        request.phases.firstByte = try histogram(phases["first_byte"])
        request.phases.body = try histogram(phases["body"])
        for interval in try json["intervals"].elements(atMost: Int(Self.maximumIntervals)) {
            request.intervals.append(try self.interval(interval, after: request.intervals.last?.index))
        }
        return request
    }

    private mutating func interval(_ json: LoadJSONMember, after previous: Int?) throws(LoadResultError) -> LoadInterval
    {
        let index = Int(try json["index"].integer(0...Self.maximumIntervals))
        guard index > previous ?? -1 else { throw json["index"].failure("intervals are not in their order") }
        var interval = LoadInterval(index: index)
        interval.counts = try counts(json["counts"])
        interval.rejected = try json["rejected"].count()
        interval.traffic = try traffic(json["traffic"])
        interval.latency = try json["latency"].compactHistogram()
        valuesLeft -= interval.latency.values.count
        guard valuesLeft >= 0 else { throw json.failure("the histograms are too large together") }
        return interval
    }

    private func counts(_ json: LoadJSONMember) throws(LoadResultError) -> LoadCounts {
        var counts = LoadCounts()
        counts.answered = try json["answered"].count()
        counts.failed = try json["failed"].count()
        counts.timedOut = try json["timed_out"].count()
        counts.unfinished = try json["unfinished"].count()
        counts.neverSent = try json["never_sent"].count()
        return counts
    }

    private func traffic(_ json: LoadJSONMember) throws(LoadResultError) -> LoadTraffic {
        var traffic = LoadTraffic()
        traffic.headBytesSent = try json["head_bytes_sent"].count()
        traffic.bodyBytesSent = try json["body_bytes_sent"].count()
        traffic.headBytesReceived = try json["head_bytes_received"].count()
        traffic.bodyBytesReceived = try json["body_bytes_received"].count()
        return traffic
    }

    private mutating func histogram(_ json: LoadJSONMember) throws(LoadResultError) -> LatencyHistogram {
        if json.isNull, json.value != nil { return LatencyHistogram() }
        let compact = try json["hdr"].compactHistogram()
        guard let last = compact.values.last else { return LatencyHistogram() }
        bucketsLeft -= HistogramLayout.index(of: last)
        guard bucketsLeft >= 0 else { throw json.failure("the histograms are too large together") }
        let least = UInt64(try json["min_nanoseconds"].integer(0...Int64.max))
        let most = UInt64(try json["max_nanoseconds"].integer(0...Int64.max))
        guard let histogram = LatencyHistogram(compact, min: least, max: most) else {
            throw json.failure("minimum and maximum are not those of the histogram")
        }
        return histogram
    }

    private func scenario(_ json: LoadJSONMember) throws(LoadResultError) -> ScenarioStatistics {
        var scenario = ScenarioStatistics(name: try json["name"].text())
        scenario.started = try json["started"].count()
        scenario.completed = try json["completed"].count()
        scenario.failed = try json["failed"].count()
        scenario.interrupted = try json["interrupted"].count()
        scenario.neverStarted = try json["never_started"].count()
        scenario.peakUsers = Int(try json["peak_users"].integer(0...1 << 32))
        // Earlier versions did not write the member.
        if !json["resilience"].isNull { scenario.resilience = try resilience(json["resilience"]) }
        return scenario
    }

    private func resilience(_ json: LoadJSONMember) throws(LoadResultError) -> LoadResilience {
        var resilience = LoadResilience()
        for (reason, member) in try json["retries"].members() { resilience.retries[reason] = try member.count() }
        resilience.hedges = try json["hedges"].count()
        resilience.hedgesWon = try json["hedges_won"].count()
        resilience.refusedByBreaker = try json["refused_by_breaker"].count()
        return resilience
    }

    private func check(_ json: LoadJSONMember) throws(LoadResultError) -> CheckStatistics {
        var check = CheckStatistics(scenario: try json["scenario"].text(), name: try json["name"].text())
        check.passed = try json["passed"].count()
        check.failed = try json["failed"].count()
        return check
    }

    private mutating func generator(_ json: LoadJSONMember) throws(LoadResultError) -> GeneratorHealth {
        var generator = GeneratorHealth()
        generator.userSeconds = try json["user_seconds"].number()
        generator.systemSeconds = try json["system_seconds"].number()
        generator.cores = try json["cores"].int()
        generator.peakResidentBytes = try json["peak_resident_bytes"].int()
        generator.lag = try histogram(json["lag"])
        generator.peakDescriptors = try json["peak_descriptors"].int()
        generator.descriptorLimit = Int(clamping: try json["descriptor_limit"].integer(Int64.min...Int64.max))
        generator.connections = try json["connections"].int()
        generator.loops = try json["loops"].int()
        for limit in try json["limits"].elements(atMost: 10_000) { generator.limits.append(try self.limit(limit)) }
        return generator
    }

    private func limit(_ json: LoadJSONMember) throws(LoadResultError) -> GeneratorHealth.Limit {
        switch try json["kind"].text() {
        case "cpu": return .cpu(share: try json["share"].number())
        case "late_sends": return .lateSends(p99: UInt64(try json["p99_nanoseconds"].integer(0...Int64.max)))
        case "loop_lag": return .loopLag(max: UInt64(try json["max_nanoseconds"].integer(0...Int64.max)))
        case "descriptors":
            return .descriptors(
                refused: try json["refused"].count(),
                limit: Int(clamping: try json["limit"].integer(Int64.min...Int64.max)))
        case "never_sent": return .neverSent(count: try json["count"].count())
        case "users": return .users(scenario: try json["scenario"].text(), count: try json["count"].count())
        default: throw json["kind"].failure("this limit is not known")
        }
    }

    private func threshold(_ json: LoadJSONMember) throws(LoadResultError) -> ThresholdOutcome {
        let text = try json["threshold"].text()
        var threshold: LoadThreshold
        do throws(LoadThresholdError) {
            threshold = try LoadThreshold(parsing: text)
        } catch {
            throw json["threshold"].failure(error.description)
        }
        threshold.aborts = try json["aborts"].flag()
        let measured = try json["measured"].isNull ? nil : json["measured"].number()
        return ThresholdOutcome(threshold, measured: measured, isMet: try json["met"].flag())
    }
}

extension LatencyHistogram {
    /// The values of `compact`, with the exact smallest and largest one; `nil` if these are in other buckets, or the
    /// largest one is above what ``record(_:count:)`` records.
    init?(_ compact: CompactHistogram, min least: UInt64, max most: UInt64) {
        self.init()
        guard let first = compact.values.first, let last = compact.values.last else { return nil }
        guard least <= most, most <= 1 << 62, HistogramLayout.index(of: least) == HistogramLayout.index(of: first),
            HistogramLayout.index(of: most) == HistogramLayout.index(of: last)
        else { return nil }
        for (value, count) in zip(compact.values, compact.counts) {
            // The highest value of the last bucket may be above the largest one that was recorded.
            let recorded = value == first ? least : Swift.min(value, most)
            if value == last {
                record(recorded, count: count - 1)
                record(most)
            } else {
                record(recorded, count: count)
            }
        }
    }
}
