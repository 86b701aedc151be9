import ErrandLoad
import Foundation
import FoundationXML
import Testing

/// The HTML report: well-formed, everything escaped, of bounded size, and nothing from a network.
@Suite(.timeLimit(.minutes(20))) struct HTMLReportTests {
    private final class Page: NSObject, XMLParserDelegate {
        var text = ""
        var elements: [String: Int] = [:]
        var error: String?
        /// Shapes that neither have a fill nor are in a group with one.
        var unpainted = 0
        private var fills: [Bool] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            elements[name, default: 0] += 1
            fills.append(attributes["fill"] != nil || fills.last == true)
            if ["path", "rect"].contains(name), fills.last == false { unpainted += 1 }
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            _ = fills.popLast()
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

        func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
            if error == nil { error = "line \(parser.lineNumber): \(parseError)" }
        }
    }

    private func page(_ html: String) -> Page {
        let page = Page()
        let parser = XMLParser(data: Data(html.utf8))
        parser.delegate = page
        if !parser.parse(), page.error == nil { page.error = "not parsed" }
        return page
    }

    @Test(arguments: [0, 1, 10, 3600])
    func thePageIsWellFormed(_ seconds: Int) {
        let html = HTMLReport(SampleResult.result(seconds: seconds)).text
        let page = page(html)
        #expect(page.error == nil)
        #expect(page.elements["html"] == 1 && page.elements["h1"] == 1)
        #expect(page.text.contains("shop plan") && page.text.contains("shop/order"))
        #expect(html.utf8.count < 600_000)
        // Rate, latency, latency by name, heat map, distribution, errors; without requests only the rate.
        let charts = html.components(separatedBy: "role=\"img\"").count - 1
        #expect(charts == (seconds == 0 ? 1 : 6))
    }

    @Test func nothingAtAllIsAPage() {
        let page = page(HTMLReport(SampleResult.empty).text)
        #expect(page.error == nil)
        #expect(page.text.contains("No latency was measured."))
    }

    @Test func thePageHasWhatResilienceDid() throws {
        let page = page(HTMLReport(try SampleResult.full()).text)
        #expect(page.error == nil)
        #expect(page.text.contains("Retries by reason") && page.text.contains("noConnection"))
        #expect(!HTMLReport(SampleResult.result()).text.contains("Retries"))
    }

    @Test func namesAreEscaped() throws {
        let evil = "</td><script>alert('x')</script>&\"\u{0}\u{1B}[31m\u{202E}"
        var result = try SampleResult.full()
        result.plan = evil
        result.requests[0].name = evil
        result.scenarios[0].name = evil
        result.checks[0].name = evil
        result.failures = [evil]
        result.abortedBy = evil
        result.requests[0].errors = [LoadError(kind: evil, phase: .body): 1]
        result.thresholds = [
            LoadThreshold(.max, .less, 1, request: evil).outcome(in: result)
        ]
        var before = result
        before.requests[1].name = evil + "2"
        let html = HTMLReport(result, before: before).text
        let page = page(html)
        #expect(page.error == nil)
        #expect(page.elements["script"] == nil)
        #expect(!html.contains("<script") && !html.contains("\u{1B}") && !html.contains("\u{202E}"))
        #expect(page.text.contains("</td><script>alert('x')</script>&\"\u{FFFD}\u{FFFD}[31m\u{FFFD}"))
    }

    @Test func nothingComesFromANetwork() {
        let html = HTMLReport(SampleResult.result(), before: SampleResult.result()).text
        for word in ["http:", "https:", "//", "url(", "@import", "<link", "<script", "<img", " src=", " href="] {
            #expect(!html.contains(word), "\(word)")
        }
        #expect(html.contains("prefers-color-scheme: dark") && html.contains("name=\"viewport\""))
    }

    @Test func figuresVerdictsAndUnitsAreShown() throws {
        let page = page(HTMLReport(try SampleResult.full()).text)
        for text in [
            "200 due = 180 answered + 0 failed + 20 timed out + 0 unfinished + 0 never sent",
            "The generator was the limit", "its threads used 97.0 % of the CPU time", "✗ not met", "✓ met",
            "Ended early by the threshold p99<1ms", "18.0/s", "timeoutTotal", "10.0 ms", "1.00 s",
        ] {
            #expect(page.text.contains(text), "\(text)")
        }
    }

    /// Jenkins serves pages with a policy that refuses their style sheets.
    @Test func shapesHaveColoursWithoutTheStyleSheet() {
        let page = page(HTMLReport(SampleResult.result(), before: SampleResult.result()).text)
        #expect((page.elements["rect"] ?? 0) > 20 && (page.elements["path"] ?? 0) > 20)
        #expect(page.unpainted == 0)
    }

    @Test func thePageForbidsScripts() {
        let html = HTMLReport(SampleResult.result()).text
        #expect(html.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""))
    }

    @Test func aSingleIntervalIsADot() {
        let dot = /d="M[0-9.]+ [0-9.]+h0"/
        #expect(HTMLReport(SampleResult.result(seconds: 1)).text.firstMatch(of: dot) != nil)
        #expect(HTMLReport(SampleResult.result(seconds: 2)).text.firstMatch(of: dot) == nil)
    }

    @Test func longRunsHaveMinutesAndHours() {
        let html = HTMLReport(SampleResult.result(seconds: 3600)).text
        #expect(html.contains("text-anchor=\"middle\">10 min</text>"))
        #expect(html.contains("text-anchor=\"middle\">1 h</text>"))
        #expect(html.contains("59 min 45 s to 1 h:"))
    }

    /// Requests may end in the grace period.
    @Test func whatIsAfterTheMeasuredPartIsShaded() {
        var result = SampleResult.result()
        #expect(!HTMLReport(result).text.contains("after the measured part"))
        var interval = LoadInterval(index: 12)
        interval.counts.timedOut = 1
        result.requests[0].intervals.append(interval)
        result.requests[0].counts.timedOut += 1
        #expect(HTMLReport(result).text.contains("<title>after the measured part</title>"))
    }

    @Test func theSlowestNamesHaveLines() {
        var result = SampleResult.result()
        #expect(!HTMLReport(result).text.contains("with the largest p99"))
        let quick = result.requests[0]
        for number in 0..<5 {
            var requests = quick
            requests.name = "quick\(number)"
            requests.latency = LatencyHistogram()
            requests.latency.record(UInt64(number + 1) * 1_000_000, count: 100)
            result.requests.insert(requests, at: 0)
        }
        let html = HTMLReport(result).text
        #expect(html.contains("Of 7 names the 5 with the largest p99."))
        // Login and order are the slowest of all, and last.
        for name in ["login", "order", "quick4"] { #expect(html.contains("</svg>shop/\(name)</li>"), "\(name)") }
        for name in ["quick0", "quick1"] { #expect(!html.contains("</svg>shop/\(name)</li>"), "\(name)") }
    }

    /// The sample has four errors in each second.
    @Test func numbersOfErrorsAreWhole() {
        let html = HTMLReport(SampleResult.result()).text
        #expect(html.contains("text-anchor=\"end\">3</text>") && !html.contains("text-anchor=\"end\">1.00</text>"))
    }

    /// A caption in the table would be as wide as the table, and be cut off with it on a narrow screen.
    @Test func captionsAreOutsideOfWhatScrolls() {
        let page = page(HTMLReport(SampleResult.result()).text)
        let tables = page.elements["table"] ?? 0
        #expect(tables > 5 && page.elements["figcaption"] == tables && page.elements["caption"] == nil)
    }

    @Test func aComparisonIsShown() {
        let page = page(HTMLReport(SampleResult.result(seconds: 40), before: SampleResult.result(seconds: 40)).text)
        #expect(page.error == nil)
        #expect(page.text.contains("Comparison") && page.text.contains("no difference"))
        // Six figures of all requests and of each of the two names.
        #expect(page.text.contains("18 figures: 0 worse, 0 better, "))
    }
}
