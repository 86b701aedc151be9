import Errand
import FoundationEssentials

/// Thresholds and checks as JUnit XML in the form that Jenkins and GitLab read: one `testsuite` for the thresholds and
/// one for the checks, with a `testcase` for each of them. A threshold that is not met, and a check that failed at
/// least once, are failures. Without thresholds there is one `testcase` for the run: a failure if it was interrupted,
/// if no request was answered, or if every iteration failed.
public struct JUnitLoadReport: Sendable {
    private struct Case {
        let name: String
        let className: String
        /// `nil`: passed.
        let failure: String?
    }

    private let result: LoadResult

    /// A report on a result.
    public init(_ result: LoadResult) {
        self.result = result
    }

    /// The document, with a line break at the end.
    public var text: String {
        let runs = result.thresholds.isEmpty ? [run] : []
        let suites = [("run", runs), ("thresholds", thresholds), ("checks", checks)].filter { !$0.1.isEmpty }
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text += "<testsuites name=\"\(MarkupText.escaped(result.plan))\"\(counts(suites.flatMap { $0.1 }))>\n"
        for (name, cases) in suites {
            text += "  <testsuite name=\"\(name)\"\(counts(cases)) timestamp=\"\(result.start.formatted(.iso8601))\">\n"
            let type = name == "run" ? name : String(name.dropLast())
            for testCase in cases { text += element(testCase, type: type) }
            text += "  </testsuite>\n"
        }
        return text + "</testsuites>\n"
    }

    private var run: Case {
        let counts = result.total.counts
        var failure: String?
        if result.isInterrupted {
            failure = "the run was interrupted"
        } else if counts.answered == 0 {
            failure = counts.due == 0 ? "no request was sent" : "no request got a response"
        } else if result.everyIterationFailed {
            failure = "every iteration failed"
        }
        return Case(name: "run", className: result.plan, failure: failure)
    }

    private var thresholds: [Case] {
        result.thresholds.map { outcome in
            let measured = outcome.measured.map { NumberText.measured($0, outcome.threshold.measure) }
            let text = outcome.threshold.description
            return Case(
                name: text, className: result.plan + ".thresholds",
                failure: outcome.isMet ? nil : "\(text) is not met: measured \(measured ?? "nothing")")
        }
    }

    private var checks: [Case] {
        result.checks.map { check in
            let all = check.passed + check.failed
            return Case(
                name: check.name, className: result.plan + "." + check.scenario,
                failure: check.failed == 0
                    ? nil
                    : "\(check.name) failed \(NumberText.grouped(check.failed)) times of \(NumberText.grouped(all))")
        }
    }

    private func counts(_ cases: [Case]) -> String {
        " tests=\"\(cases.count)\" failures=\"\(cases.count { $0.failure != nil })\" errors=\"0\" skipped=\"0\""
            + " time=\"\(NumberText.fixed(result.duration.asSeconds, 3))\""
    }

    private func element(_ testCase: Case, type: String) -> String {
        let head =
            "    <testcase name=\"\(MarkupText.escaped(testCase.name))\""
            + " classname=\"\(MarkupText.escaped(testCase.className))\" time=\"0\""
        guard let failure = testCase.failure else { return head + "/>\n" }
        let message = MarkupText.escaped(failure)
        return head
            + ">\n      <failure message=\"\(message)\" type=\"\(type)\">\(message)</failure>\n    </testcase>\n"
    }
}
