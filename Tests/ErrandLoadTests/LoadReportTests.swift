import ErrandLoad
import FoundationEssentials
import Testing

/// The reports as text, for people and for machines.
@Suite(.timeLimit(.minutes(20))) struct LoadReportTests {
    @Test func text() throws {
        var result = SampleResult.result()
        result.failures = ["GET http://test/: timeout\u{1B}[31m"]
        for text in ["p50<1s", "errors<1%"] {
            result.thresholds.append(try LoadThreshold(parsing: text).outcome(in: result))
        }
        let expected = """
            shop plan: 10.0 s from 2023-11-14T22:13:20Z
            The generator kept up: the figures are those of the server.
              1 loop, 2 cores, CPU 1.25 s user + 500 ms system, 30.0 MB resident, lag p99 1.00 ms, max 1.00 ms, 8 connections, 40 of 1,024 descriptors
            200 due = 180 answered + 0 failed + 20 timed out + 0 unfinished + 0 never sent; 20 rejected
            1 of 10 iterations failed

            latency from the moment when a request was due
                        due  answered  errors          rate/s    mean      p50      p90     p99   p99.9     max
            all         200       180      40  20.0 %    18.0  194 ms   200 ms   200 ms  1.00 s  1.00 s  1.00 s
            shop/login  100        90      20  20.0 %    9.00  109 ms  10.0 ms  10.0 ms  1.00 s  1.00 s  1.00 s
            shop/order  100        90      20  20.0 %    9.00  280 ms   200 ms   200 ms  1.00 s  1.00 s  1.00 s

            from sending to the end of the response, and the lateness of the generator
                        server p50      p99      max  generator p50      p99      max
            all            10.0 ms   200 ms   200 ms        20.0 us  20.0 us  20.0 us
            shop/login     10.0 ms  10.0 ms  10.0 ms        20.0 us  20.0 us  20.0 us
            shop/order      200 ms   200 ms   200 ms        20.0 us  20.0 us  20.0 us

            traffic
                        heads sent  bodies sent  heads received  bodies received  attempts/request
            all            20.0 kB          0 B             0 B           100 kB              1.10
            shop/login     10.0 kB          0 B             0 B          50.0 kB              1.10
            shop/order     10.0 kB          0 B             0 B          50.0 kB              1.10

            statuses
            status  count
            200       160  80.0 %
            500        20  10.0 %

            errors
            kind          phase       count
            timeoutTotal  first_byte     20

            phases
                        count      p50     p90     p99     max
            first byte    180  9.00 ms  180 ms  180 ms  180 ms

            scenarios
                  started  completed  failed  interrupted  never started  users at most
            shop       12          9       1            2              3              4

            checks
                                passed  failed
            shop/status is 200     198       2

            thresholds
                                measured
            met      p50<1s       200 ms
            NOT MET  errors<1%    20.0 %

            first failures
              GET http://test/: timeout\u{FFFD}[31m

            """
        let lines = TextReport(result).text.split(separator: "\n", omittingEmptySubsequences: false)
        for (line, other) in zip(lines, expected.split(separator: "\n", omittingEmptySubsequences: false)) {
            #expect(line == other)
        }
        #expect(TextReport(result).text == expected)
    }

    @Test func theTextSaysWhoWasTheLimitAndWhatIsMissing() throws {
        var result = try SampleResult.full()
        result.shares = [try #require(LoadShare(number: 2, of: 3))]
        let text = TextReport(result).text
        for line in [
            "shop plan: 10.0 s from 2023-11-14T22:13:20Z, share 2 of 3; missing: 1, 3; interrupted by a signal",
            "ended early by the threshold p99<1ms",
            "The generator was the limit: the figures are its own, not only the server's.",
            "its threads used 97.0 % of the CPU time that they can use.",
            "1 % of the requests left 5.00 ms late or more.", "a loop or timer was 80.0 ms late.",
            "3 requests got no descriptor; the limit (ulimit -n) is 1,024.", "7 due requests never left.",
            "all users of shop were busy when 11 iterations should have begun.",
        ] {
            #expect(text.split(separator: "\n").contains { $0 == line }, "\(line)")
        }
    }

    @Test func theTextHasWhatResilienceDid() throws {
        let expected = """

            retries, hedges and breakers
                  retries  hedges  hedges won  refused by breaker
            shop    1,246       9           4                   7

            retries by reason
                  reason        count
            shop  noConnection  1,234
            shop  status503        12

            checks

            """
        let text = TextReport(try SampleResult.full()).text
        #expect(text.contains(expected), "\(text)")
        #expect(!TextReport(SampleResult.result()).text.contains("retries"))
    }

    /// Spreadsheets take such a name for a formula.
    @Test(arguments: ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"]) func namesAreNoFormulas(_ name: String) {
        let rows = CSVReport(SampleResult.result(name: name, seconds: 1)).text.split(separator: "\r\n")
        #expect(rows.last?.contains(",shop,'\(name),9,") == true, "\(rows)")
        #expect(rows[1].contains(",shop,login,9,"))
    }

    @Test func csv() {
        let text = CSVReport(SampleResult.result(name: "a,\"b\"\r\nc", seconds: 2)).text
        let header =
            "time,offset_seconds,length_seconds,scenario,name,answered,failed,timed_out,unfinished,never_sent,rejected,"
            + "rate,head_bytes_sent,body_bytes_sent,head_bytes_received,body_bytes_received,min_ms,mean_ms,p50_ms,p90_ms,"
            + "p99_ms,p999_ms,max_ms\r\n"
        func times(_ milliseconds: UInt64) -> String {
            var latency = LatencyHistogram()
            latency.record(milliseconds * 1_000_000, count: 9)
            latency.record(1_000_000_000)
            let compact = CompactHistogram(latency)
            let (low, high) = (compact.values[0], compact.values[1])
            return [low, UInt64(compact.mean.rounded()), low, low, high, high, high].map(milliseconds6).joined(
                separator: ",")
        }
        func row(_ start: String, _ offset: String, _ name: String, _ milliseconds: UInt64) -> String {
            "\(start),\(offset),1.000,shop,\(name),9,0,1,0,0,1,9.000,0,0,0,5000,\(times(milliseconds))\r\n"
        }
        let quoted = "\"a,\"\"b\"\"\r\nc\""
        let rows = [
            row("1700000000.500", "0.000", "login", 10), row("1700000000.500", "0.000", quoted, 200),
            row("1700000001.500", "1.000", "login", 10), row("1700000001.500", "1.000", quoted, 200),
        ]
        #expect(text == header + rows.joined())
    }

    /// Nanoseconds in milliseconds with six digits.
    private func milliseconds6(_ nanoseconds: UInt64) -> String {
        let rest = String(nanoseconds % 1_000_000)
        return String(nanoseconds / 1_000_000) + "." + String(repeating: "0", count: 6 - rest.count) + rest
    }

    /// The last interval is cut by the end: its rate is that of the measured part of it.
    @Test func theRateOfACutIntervalIsThatOfItsLength() {
        var result = SampleResult.result(seconds: 2)
        result.duration = .milliseconds(1500)
        let last = CSVReport(result).text.split(separator: "\r\n").last ?? ""
        #expect(last.contains(",1.000,0.500,shop,order,") && last.contains(",18.000,"))
    }

    @Test func histogramLog() {
        let result = SampleResult.result(name: "GET /a,b%", seconds: 2)
        var expected = [
            "#[Histogram log format version 1.3]",
            "#[StartTime: 1700000000.500 (seconds since epoch), 2023-11-14T22:13:20Z]",
            "#[BaseTime: 1700000000.500 (seconds since epoch)]",
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"",
        ]
        for index in 0..<2 {
            for (tag, request) in zip(["shop/login", "shop/GET%20/a%2Cb%25"], result.requests) {
                // The largest value of the bucket of 1 s.
                expected.append("Tag=\(tag),\(index).000,1.000,1000.342,\(request.intervals[index].latency.base64)")
            }
        }
        #expect(HistogramLog(result).text == expected.map { $0 + "\n" }.joined())
        #expect(HistogramLog(SampleResult.empty).text.split(separator: "\n").count == 4)
    }

    @Test func theWaitForAUserIsShown() {
        var result = SampleResult.result()
        #expect(!TextReport(result).text.contains("waiting for a free user"))
        result.requests[0].userWait.record(3_000_000, count: 100)
        #expect(TextReport(result).text.contains("shop/login  3.00 ms  3.00 ms  3.00 ms  3.00 ms\n"))
        #expect(HTMLReport(result).text.contains("3.00 ms"))
    }

    /// Without thresholds the run itself is the test case.
    @Test func junitWithoutThresholds() {
        var result = SampleResult.result()
        result.checks = []
        func text() -> String { JUnitLoadReport(result).text }
        #expect(text().contains("<testcase name=\"run\" classname=\"shop plan\" time=\"0\"/>"))
        #expect(text().contains("tests=\"1\" failures=\"0\""))
        result.isInterrupted = true
        #expect(text().contains("the run was interrupted") && text().contains("failures=\"1\""))
        #expect(JUnitLoadReport(SampleResult.empty).text.contains("no request was sent"))
        result.isInterrupted = false
        result.scenarios[0].completed = 0
        result.scenarios[0].failed = 10
        #expect(text().contains("every iteration failed"))
    }

    /// A log that PyPI's `hdrhistogram` 0.10.8 reads: `HistogramLogReader` finds two intervals of each tag, with 10 values whose
    /// median is 10 and 200 ms. The histograms are those of its `HistogramLogWriter`; how well zlib compresses differs by its
    /// version, so they are compared by their values.
    private static let goldenLog = """
        #[Histogram log format version 1.3]
        #[StartTime: 1700000000.500 (seconds since epoch), 2023-11-14T22:13:20Z]
        #[BaseTime: 1700000000.500 (seconds since epoch)]
        "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
        Tag=shop/login,0.000,1.000,1000.342,HISTFAAAACh4nJNpmSzMwMDAzgABzFCaEch0M9ixgMH+A0Sg/TGj0O0sJgB6FQcW
        Tag=shop/order,0.000,1.000,1000.342,HISTFAAAACh4nJNpmSzMwMDAzgABzFCaEch0M9ixgMH+A0Tg5XImoZ+qTAB7MAcW
        Tag=shop/login,1.000,1.000,1000.342,HISTFAAAACh4nJNpmSzMwMDAzgABzFCaEch0M9ixgMH+A0Sg/TGj0O0sJgB6FQcW
        Tag=shop/order,1.000,1.000,1000.342,HISTFAAAACh4nJNpmSzMwMDAzgABzFCaEch0M9ixgMH+A0Tg5XImoZ+qTAB7MAcW

        """

    @Test func theHistogramLogIsTheGoldenOne() throws {
        func parts(_ text: String) -> [(line: Substring, histogram: Substring)] {
            text.split(separator: "\n").map { line in
                guard line.hasPrefix("Tag="), let comma = line.lastIndex(of: ",") else { return (line, "") }
                return (line[..<comma], line[comma...].dropFirst())
            }
        }
        let written = parts(HistogramLog(SampleResult.result(seconds: 2)).text)
        let golden = parts(Self.goldenLog)
        #expect(written.map(\.line) == golden.map(\.line))
        for (own, other) in zip(written, golden) where !own.histogram.isEmpty {
            let histogram = try CompactHistogram(base64: String(own.histogram))
            #expect(try histogram == CompactHistogram(base64: String(other.histogram)) && histogram.count == 10)
        }
    }

    @Test func junit() throws {
        var result = SampleResult.result()
        for text in ["p50<1s", "\"<a>\":errors<1%"] {
            result.thresholds.append(try LoadThreshold(parsing: text).outcome(in: result))
        }
        let expected = """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="shop plan" tests="3" failures="2" errors="0" skipped="0" time="10.000">
              <testsuite name="thresholds" tests="2" failures="1" errors="0" skipped="0" time="10.000" timestamp="2023-11-14T22:13:20Z">
                <testcase name="p50&lt;1s" classname="shop plan.thresholds" time="0"/>
                <testcase name="&lt;a&gt;:errors&lt;1%" classname="shop plan.thresholds" time="0">
                  <failure message="&lt;a&gt;:errors&lt;1% is not met: measured nothing" type="threshold">&lt;a&gt;:errors&lt;1% is not met: measured nothing</failure>
                </testcase>
              </testsuite>
              <testsuite name="checks" tests="1" failures="1" errors="0" skipped="0" time="10.000" timestamp="2023-11-14T22:13:20Z">
                <testcase name="status is 200" classname="shop plan.shop" time="0">
                  <failure message="status is 200 failed 2 times of 200" type="check">status is 200 failed 2 times of 200</failure>
                </testcase>
              </testsuite>
            </testsuites>

            """
        #expect(JUnitLoadReport(result).text == expected)
    }
}
