import ErrandLoad
import FoundationEssentials
import Testing

/// OpenMetrics text 1.0.
@Suite(.timeLimit(.minutes(20))) struct OpenMetricsReportTests {
    @Test func text() throws {
        var result = SampleResult.result(name: "a\"b\\c\nd")
        result.thresholds = [try LoadThreshold(parsing: "p50<1s").outcome(in: result)]
        let text = OpenMetricsReport(result).text
        #expect(text.hasSuffix("\n# EOF\n"))
        let lines = Set(text.split(separator: "\n").map(String.init))
        let login = "scenario=\"shop\",name=\"login\""
        let other = #"scenario="shop",name="a\"b\\c\nd""#
        for line in [
            "# TYPE errand_load_requests counter",
            "errand_load_requests_total{\(login),outcome=\"answered\"} 90",
            "errand_load_requests_total{\(other),outcome=\"timed_out\"} 10",
            "errand_load_rejected_requests_total{\(login)} 10",
            "errand_load_attempts_total{\(login)} 110",
            "errand_load_responses_total{\(login),status=\"500\"} 10",
            "errand_load_errors_total{\(login),kind=\"timeoutTotal\",phase=\"first_byte\"} 10",
            "# UNIT errand_load_transferred_bytes bytes",
            "errand_load_transferred_bytes_total{\(login),direction=\"received\",part=\"body\"} 50000",
            "# TYPE errand_load_latency_seconds histogram", "# UNIT errand_load_latency_seconds seconds",
            "errand_load_latency_seconds_bucket{\(login),le=\"0.0001\"} 0",
            // 10 ms are in the bucket that ends at 10.0024 ms.
            "errand_load_latency_seconds_bucket{\(login),le=\"0.01\"} 0",
            "errand_load_latency_seconds_bucket{\(login),le=\"0.025\"} 90",
            "errand_load_latency_seconds_bucket{\(login),le=\"100.0\"} 100",
            "errand_load_latency_seconds_bucket{\(login),le=\"+Inf\"} 100",
            "errand_load_latency_seconds_count{\(login)} 100",
            "errand_load_checks_total{scenario=\"shop\",check=\"status is 200\",outcome=\"failed\"} 2",
            "errand_load_threshold_met{threshold=\"p50<1s\"} 1.0", "errand_load_generator_limits 0.0",
            "errand_load_duration_seconds 10.0",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
    }

    /// Text format 0.0.4: the type of a counter is that of its samples, and there is nothing that only OpenMetrics has.
    @Test func prometheusText() throws {
        let text = OpenMetricsReport(try SampleResult.full()).prometheusText
        #expect(!text.contains("# EOF") && !text.contains("# UNIT"))
        var family = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# TYPE ") {
                family = String(line.split(separator: " ")[2])
                #expect(line.hasSuffix("counter") == family.hasSuffix("_total"), "\(line)")
            }
            guard !line.hasPrefix("#") else { continue }
            #expect(line.hasPrefix(family), "\(line)")
        }
    }

    @Test func whatResilienceDid() throws {
        let lines = Set(OpenMetricsReport(try SampleResult.full()).text.split(separator: "\n").map(String.init))
        for line in [
            "errand_load_retries_total{scenario=\"shop\",reason=\"status503\"} 12",
            "errand_load_hedges_total{scenario=\"shop\"} 9", "errand_load_hedges_won_total{scenario=\"shop\"} 4",
            "errand_load_breaker_refusals_total{scenario=\"shop\"} 7",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(!OpenMetricsReport(SampleResult.result()).text.contains("errand_load_retries"))
    }

    /// A sample belongs to the family above it, and no series is there twice.
    @Test func seriesAreUniqueAndInTheirFamilies() throws {
        var family = ""
        var series: Set<Substring> = []
        for line in OpenMetricsReport(try SampleResult.full()).text.split(separator: "\n") {
            if line.hasPrefix("# TYPE ") { family = String(line.split(separator: " ")[2]) }
            guard !line.hasPrefix("#") else { continue }
            #expect(line.hasPrefix(family), "\(line)")
            let end = try #require(line.lastIndex(of: " "))
            #expect(series.insert(line[..<end]).inserted, "\(line)")
            #expect(Double(line[end...].dropFirst()) != nil, "\(line)")
        }
        #expect(series.count > 100)
    }

    /// 150 names and 50 that are the same when they are cut: the first 100 have series, and the rest is added up.
    @Test func labelsAreBounded() throws {
        var result = SampleResult.empty
        let long = (0..<50).map { String(repeating: "x", count: 300) + String($0) }
        for name in long + (0..<150).map({ "name \($0)" }) {
            var request = RequestStatistics(scenario: "s", name: name)
            request.counts.answered = 2
            result.requests.append(request)
        }
        let text = OpenMetricsReport(result).text
        let samples = text.split(separator: "\n").filter {
            $0.hasPrefix("errand_load_requests_total") && $0.contains("\"answered\"")
        }
        #expect(samples.count == OpenMetricsReport.maximumSeries + 1)
        #expect(samples.allSatisfy { $0.count < 300 })
        #expect(samples.first?.hasSuffix("\",outcome=\"answered\"} 2") == true)
        // 49 long names and 51 short ones.
        #expect(
            samples.last == "errand_load_requests_total{scenario=\"\",name=\"other\",outcome=\"answered\"} 200")
    }
}
