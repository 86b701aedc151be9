import ErrandLoad
import ErrandTesting
import FoundationEssentials
import Testing

/// The JSON of results: exact, stable, and nothing is taken on trust.
@Suite(.timeLimit(.minutes(20))) struct LoadResultJSONTests {
    /// Ten names, 3,600 intervals, and the values that 32,000 latencies of a wide distribution have.
    @Test func aLongRunCanBeRead() {
        #expect(LoadResult.maximumValues >= 10 * 3600 * 6000)
    }

    @Test func aResultIsReadBack() throws {
        let result = try SampleResult.full()
        let read = try LoadResult(json: result.json)
        #expect(read == result)
        let (again, first) = (String(decoding: read.json, as: UTF8.self), String(decoding: result.json, as: UTF8.self))
        #expect(again == first)
        for (one, other) in zip(read.requests, result.requests) {
            #expect(one.latency.min == other.latency.min)
            #expect(one.latency.value(at: 100) == other.latency.value(at: 100))
            #expect(one.latency.mean == other.latency.mean)
        }
        #expect(try LoadResult(json: SampleResult.empty.json) == SampleResult.empty)
    }

    @Test func theTextIsStable() throws {
        var result = LoadResult(plan: "a \"plan\"", start: SampleResult.start, duration: .milliseconds(1500))
        result.shares = [try #require(LoadShare(number: 2, of: 4))]
        var requests = RequestStatistics(scenario: "s", name: "n")
        requests.counts.answered = 2
        requests.counts.neverSent = 1
        requests.statuses = [404: 1, 200: 1]
        requests.latency.record(1500, count: 2)
        var interval = LoadInterval(index: 3)
        interval.latency = CompactHistogram(requests.latency)
        requests.intervals = [interval]
        result.requests = [requests]
        let empty =
            "{\"head_bytes_sent\": 0, \"body_bytes_sent\": 0, \"head_bytes_received\": 0, \"body_bytes_received\": 0}"
        let none =
            "{\"due\": 0, \"answered\": 0, \"failed\": 0, \"timed_out\": 0, \"unfinished\": 0, \"never_sent\": 0}"
        let hdr = requests.latency.base64
        let expected = [
            "{\"format\": 1, \"plan\": \"a \\\"plan\\\"\", \"fingerprint\": null, \"shares\": [{\"number\": 2, \"count\": 4}], ",
            "\"start\": \"2023-11-14T22:13:20Z\", \"start_unix_nanoseconds\": 1700000000500000000, ",
            "\"duration_nanoseconds\": 1500000000, \"interval_nanoseconds\": 1000000000, \"interrupted\": false, ",
            "\"aborted_by\": null, \"requests\": [{\"scenario\": \"s\", \"name\": \"n\", \"counts\": {\"due\": 3, ",
            "\"answered\": 2, \"failed\": 0, \"timed_out\": 0, \"unfinished\": 0, \"never_sent\": 1}, ",
            "\"statuses\": {\"200\": 1, \"404\": 1}, \"errors\": [], \"rejected\": 0, \"attempts\": 0, ",
            "\"traffic\": \(empty), \"latency\": {\"count\": 2, \"min_nanoseconds\": 1500, ",
            "\"mean_nanoseconds\": 1500.0, \"p50_nanoseconds\": 1500, \"p90_nanoseconds\": 1500, ",
            "\"p99_nanoseconds\": 1500, \"p999_nanoseconds\": 1500, \"max_nanoseconds\": 1500, ",
            "\"hdr\": \"\(hdr)\"}, \"user_wait\": null, \"send_delay\": null, \"service_time\": null, \"phases\": {\"resolve\": null, ",
            "\"connect\": null, \"tls\": null, \"first_byte\": null, \"body\": null}, \"intervals\": [{\"index\": 3, ",
            "\"counts\": \(none), \"rejected\": 0, \"traffic\": \(empty), \"latency\": \"\(hdr)\"}]}], ",
            "\"scenarios\": [], \"checks\": [], \"generators\": [], \"thresholds\": [], \"failures\": []}\n",
        ].joined()
        #expect(String(decoding: result.json, as: UTF8.self) == expected)
    }

    /// The text of a sample with one member in place of another.
    private func refusal(_ member: String, _ other: String) throws -> LoadResultError? {
        var text = String(decoding: try SampleResult.full().json, as: UTF8.self)
        let range = try #require(text.firstRange(of: member))
        text.replaceSubrange(range, with: other)
        return refusal(of: text)
    }

    private func refusal(of text: String) -> LoadResultError? {
        do throws(LoadResultError) {
            _ = try LoadResult(json: Data(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("\"format\": 1", "\"format\": 2", "format"),
        ("\"format\": 1", "\"format\": \"1\"", "format"),
        ("\"plan\": \"shop plan\"", "\"plan\": 5", "plan"),
        ("\"plan\": ", "\"plane\": ", "plan"),
        ("\"number\": 1, ", "\"number\": 2, ", "shares[0]"),
        ("\"interval_nanoseconds\": 1000000000", "\"interval_nanoseconds\": 0", "interval_nanoseconds"),
        ("\"answered\": 90", "\"answered\": -1", "requests[0].counts.answered"),
        ("\"answered\": 90", "\"answered\": 1.5", "requests[0].counts.answered"),
        ("\"answered\": 90", "\"answered\": 9007199254740993", "requests[0].counts.answered"),
        ("\"200\": 80", "\"x\": 80", "requests[0].statuses.x"),
        ("\"phase\": \"first_byte\"", "\"phase\": \"soon\"", "requests[0].errors[0].phase"),
        ("\"hdr\": \"HIST", "\"hdr\": \"hist", "requests[0].latency.hdr"),
        ("\"min_nanoseconds\": 10000000", "\"min_nanoseconds\": 20000000", "requests[0].latency"),
        ("\"index\": 1,", "\"index\": 0,", "requests[0].intervals[1].index"),
        ("\"hedges\": 9", "\"hedges\": -1", "scenarios[0].resilience.hedges"),
        ("\"status503\": 12", "\"status503\": []", "scenarios[0].resilience.retries.status503"),
        ("\"kind\": \"cpu\"", "\"kind\": \"gpu\"", "generators[0].limits[0].kind"),
        ("\"threshold\": \"p99<1s\"", "\"threshold\": \"p99\"", "thresholds[0].threshold"),
        ("\"met\": ", "\"mat\": ", "thresholds[0].met"),
    ])
    func aWrongMemberIsNamed(_ member: String, _ other: String, _ path: String) throws {
        let refused = try refusal(member, other)
        #expect(refused?.path == path)
        #expect(refused?.problem.isEmpty == false)
    }

    /// Earlier versions of the same format did not count what resilience does.
    @Test func aMissingMemberOfResilienceIsRead() throws {
        let result = SampleResult.result()
        let text = String(decoding: result.json, as: UTF8.self)
        let earlier = text.replacing(", \"resilience\": null", with: "")
        #expect(earlier != text)
        #expect(try LoadResult(json: Data(earlier.utf8)) == result)
    }

    @Test func unknownMembersAreIgnored() throws {
        #expect(try refusal("{\"format\": 1", "{\"later\": [{}], \"format\": 1") == nil)
    }

    @Test func textThatIsNoResult() {
        for text in [
            "", "[", "[]", "{}", "null", "{\"format\": 1}", "{\"format\":1", String(repeating: "[", count: 600),
        ] {
            #expect(throws: LoadResultError.self) { try LoadResult(json: Data(text.utf8)) }
        }
    }

    /// Counts that overflow together are refused, so that no sum in a report can trap.
    @Test func countsThatOverflowAreRefused() throws {
        let large = String(1 << 53)
        var result = SampleResult.empty
        result.requests = (0..<40).map { RequestStatistics(scenario: "s", name: String($0)) }
        let text = String(decoding: result.json, as: UTF8.self).replacing(
            "\"answered\": 0", with: "\"answered\": \(large)")
        #expect(refusal(of: text)?.problem == "the counts are too large")
    }

    /// Few bytes stand for a histogram of many values. Those of all intervals together are bounded.
    @Test func intervalsThatTakeTooMuchMemoryAreRefused() throws {
        let json = SampleResult.result(seconds: 10).json
        // Two names, ten intervals, two values in each.
        #expect(try LoadResult(json: json, mostValues: 40).requests.count == 2)
        do throws(LoadResultError) {
            _ = try LoadResult(json: json, mostValues: 39)
            Issue.record("the result was read")
        } catch {
            #expect(error.path == "requests[1].intervals[9]" && error.problem.contains("too large together"))
        }
    }

    /// Whatever the bytes: an error or a result that all reports take.
    @Test func mutatedTextDoesNotTrap() throws {
        var random = SeededGenerator(seed: 5)
        // Latencies of nanoseconds: a histogram looks at all smaller values, and this takes a debug build half a minute
        // with those of milliseconds.
        var small = SampleResult.result(seconds: 1, millisecond: 1)
        small.thresholds = [try LoadThreshold(parsing: "p99<1s").outcome(in: small)]
        let text = Array(small.json)
        let words = ["9007199254740992", "-1", "null", "\"\"", "1e308", "[", "}", "0", "true"].map { Array($0.utf8) }
        var read = 0
        for _ in 0..<400 {
            var bytes = text
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0...2, using: &random) {
            case 0:
                bytes[index] = UInt8.random(in: 0x20...0x7E, using: &random)
            case 1:
                bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...8, using: &random)))
            default:
                // A whole number in place of another.
                var end = index
                while end < bytes.count, (0x30...0x39).contains(bytes[end]) { end += 1 }
                let word = words[Int.random(in: 0..<words.count, using: &random)]
                bytes.replaceSubrange(index..<end, with: word)
            }
            guard let result = try? LoadResult(json: Data(bytes)) else { continue }
            read += 1
            _ = (result.json, CSVReport(result).text, HistogramLog(result).text)
            guard read.isMultiple(of: 10) else { continue }
            _ = (TextReport(result).text, HTMLReport(result).text, OpenMetricsReport(result).text)
        }
        #expect(read > 0)
    }
}
