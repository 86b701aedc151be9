import ErrandLoad
import Testing

/// The text of thresholds, and their verdicts.
@Suite(.timeLimit(.minutes(20))) struct LoadThresholdTests {
    @Test(arguments: [
        ("p99<200ms", LoadThreshold(.percentile(99), .less, 200e6)),
        ("p99.9 <= 1s", LoadThreshold(.percentile(99.9), .lessOrEqual, 1e9)),
        (" mean<50ms ", LoadThreshold(.mean, .less, 50e6)),
        ("max<2min", LoadThreshold(.max, .less, 120e9)),
        ("p50>1.5us", LoadThreshold(.percentile(50), .greater, 1500)),
        ("errors<0.1%", LoadThreshold(.errors, .less, 0.001)),
        ("errors<0.001", LoadThreshold(.errors, .less, 0.001)),
        ("errors<1e-3", LoadThreshold(.errors, .less, 0.001)),
        ("rate>1000", LoadThreshold(.rate, .greater, 1000)),
        ("rate >= 1000 /s", LoadThreshold(.rate, .greaterOrEqual, 1000)),
        ("checks>=99%", LoadThreshold(.checks, .greaterOrEqual, 0.99)),
        ("never_sent<1%", LoadThreshold(.neverSent, .less, 0.01)),
        ("shop/*:iterations<1%", LoadThreshold(.iterations, .less, 0.01, scenario: "shop")),
        ("login:p99<1s", LoadThreshold(.percentile(99), .less, 1e9, request: "login")),
        ("shop/login: p99<1s", LoadThreshold(.percentile(99), .less, 1e9, scenario: "shop", request: "login")),
        ("shop/GET /a:b:p99<1s", LoadThreshold(.percentile(99), .less, 1e9, scenario: "shop", request: "GET /a:b")),
        ("*/GET /a:max<1s", LoadThreshold(.max, .less, 1e9, request: "GET /a")),
        ("shop/*:max<1s", LoadThreshold(.max, .less, 1e9, scenario: "shop")),
        ("\"GET /a\":max<1s", LoadThreshold(.max, .less, 1e9, request: "GET /a")),
        (#""a\"b\\":max<1s"#, LoadThreshold(.max, .less, 1e9, request: #"a"b\"#)),
    ])
    func textIsRead(_ text: String, _ expected: LoadThreshold) throws {
        let threshold = try LoadThreshold(parsing: text)
        #expect(threshold == expected)
        #expect(try LoadThreshold(parsing: threshold.description) == threshold)
    }

    @Test func descriptionsAreShort() throws {
        for text in ["p99<200ms", "p99.9<=1s", "errors<0.1%", "rate>1000", "checks>=99%", "shop/*:max<1.5s"] {
            #expect(try LoadThreshold(parsing: text).description == text)
        }
    }

    /// Whatever the names and numbers, the text stands for the same threshold.
    @Test func descriptionsAreReadBack() throws {
        let names: [String?] = [
            nil, "a", "a/b", "a:b", "*", "", " a ", "a\"b", "\\", "p99<1s", "\"", "a\nb", "é: 日本/x", "a\\\"",
            "\u{301}a/b", "\r\nx",
        ]
        let bounds: [Double] = [
            0, 1, 0.1, 1.0 / 3, 999_999_999, 1e9 + 1, Double.leastNonzeroMagnitude, 0.999, 12345.678,
        ]
        for scenario in names {
            for request in names {
                for (index, bound) in bounds.enumerated() {
                    let measures: [LoadThreshold.Measure] = [.percentile(99.99), .mean, .rate, .percentile(0)]
                    let threshold = LoadThreshold(
                        measures[index % measures.count], .lessOrEqual, bound, scenario: scenario, request: request)
                    #expect(try LoadThreshold(parsing: threshold.description) == threshold)
                    guard bound <= 1 else { continue }
                    let share = LoadThreshold(.errors, .greater, bound, scenario: scenario, request: request)
                    #expect(try LoadThreshold(parsing: share.description) == share)
                }
            }
        }
    }

    @Test(arguments: [
        ("", 0), ("p99", 3), ("p99<", 4), ("p99<200", 7), ("p99<200 parsec", 8), ("p101<1s", 0), ("p<1s", 0),
        ("median<1s", 0), ("errors<2", 7), ("errors<1ms", 8), ("rate>5ms", 6), ("p99=1s", 3), ("p99<1s x", 7),
        ("a/:p99<1s", 2), (":p99<1s", 0), ("\"a:p99<1s", 0), ("\"a\"b:p99<1s", 3), ("\"\\n\":p99<1s", 2),
        ("errors<-1", 7), ("max<1e308s", 4), ("p99<<1s", 4), ("rate>.", 5),
    ])
    func malformedTextHasAPlace(_ text: String, _ position: Int) {
        do throws(LoadThresholdError) {
            let threshold = try LoadThreshold(parsing: text)
            Issue.record("\(text) was read as \(threshold)")
        } catch {
            #expect(error.position == position)
            #expect(error.text == text && !error.problem.isEmpty)
        }
    }

    /// 200 requests: 180 answered in 10 or 200 ms, of which 20 were rejected, and 20 timed out after 1 s.
    @Test(arguments: [
        ("p50<=201ms", true), ("p50<199ms", false), ("login:p50<11ms", true), ("shop/order:p50>=200ms", true),
        ("mean<300ms", true), ("max>=1s", true), ("max<1s", false), ("errors<=20%", true), ("errors<20%", false),
        ("rate>=18", true), ("rate>18", false), ("login:rate>=9", true), ("checks>=99%", true), ("checks>99%", false),
        ("never_sent<=0", true), ("shop/*:rate>=18", true), ("iterations<=10%", true), ("iterations<10%", false),
        ("shop/*:iterations<=10%", true), ("status is 200:checks>=99%", true),
        // Nothing is measured.
        ("other/*:rate>=0", false), ("nobody:p99<1min", false), ("other/*:checks>=0", false),
        ("nobody:errors<=1", false), ("other/*:iterations<=1", false), ("status:checks>=0", false),
    ])
    func verdicts(_ text: String, _ isMet: Bool) throws {
        #expect(try LoadThreshold(parsing: text).outcome(in: SampleResult.result()).isMet == isMet)
    }

    /// What is answered in the grace period was not answered at that rate.
    @Test func theRateIsThatOfTheMeasuredPart() throws {
        var result = SampleResult.result()
        result.duration = .milliseconds(4500)
        let rate = try #require(try LoadThreshold(parsing: "rate>1").outcome(in: result).measured)
        // Five intervals with 18 answers each.
        #expect(abs(rate - 20) < 1e-9)
        #expect(HTMLReport(result).text.contains("20.0/s"))
    }

    @Test func checksOfARequest() throws {
        var result = SampleResult.result()
        result.checks[0].name = "login: status == 200"
        #expect(try LoadThreshold(parsing: "login:checks>98%").outcome(in: result).measured == 0.99)
        #expect(try LoadThreshold(parsing: "log:checks>98%").outcome(in: result).measured == nil)
    }

    @Test func measuredValues() throws {
        let result = SampleResult.result()
        func measured(_ text: String) throws -> Double? {
            try LoadThreshold(parsing: text).outcome(in: result).measured
        }
        #expect(try measured("errors<1%") == 0.2)
        #expect(try measured("rate>1") == 18)
        #expect(try measured("checks>1%") == 0.99)
        #expect(try measured("never_sent<1%") == 0)
        #expect(try measured("nobody:rate>1") == nil)
        #expect(try LoadThreshold(parsing: "p99<1s").outcome(in: SampleResult.empty).measured == nil)
        let mean = try #require(try measured("mean<1s"))
        // 90 of 10 ms, 90 of 200 ms and 20 of 1 s, to 0.1 %.
        #expect(abs(mean - 194.5e6) < 194.5e3)
    }
}
