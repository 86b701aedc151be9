import Foundation

/// Outcomes as JUnit XML in the form that Jenkins and GitLab read: a `testsuite` for each file, a `testcase` for each
/// request.
enum JUnitReport {
    static func text(_ outcomes: [RequestOutcome], started: Date) -> String {
        var suites: [(file: String, outcomes: [RequestOutcome])] = []
        for outcome in outcomes {
            if suites.last?.file != outcome.file { suites.append((outcome.file, [])) }
            suites[suites.count - 1].outcomes.append(outcome)
        }
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text += "<testsuites name=\"errand\"\(counts(outcomes))>\n"
        for suite in suites {
            text += "  <testsuite name=\"\(escaped(suite.file))\"\(counts(suite.outcomes))"
            text += " timestamp=\"\(started.formatted(.iso8601))\">\n"
            for outcome in suite.outcomes { text += testcase(outcome) }
            text += "  </testsuite>\n"
        }
        return text + "</testsuites>\n"
    }

    private static func counts(_ outcomes: [RequestOutcome]) -> String {
        func count(_ verdict: RequestOutcome.Verdict) -> Int { outcomes.count { $0.verdict == verdict } }
        let milliseconds = outcomes.reduce(0) { $0 + ($1.milliseconds ?? 0) }
        return " tests=\"\(outcomes.count)\" failures=\"\(count(.failed))\" errors=\"\(count(.broken))\""
            + " skipped=\"\(count(.skipped))\" time=\"\(seconds(milliseconds))\""
    }

    private static func testcase(_ outcome: RequestOutcome) -> String {
        let head =
            "    <testcase name=\"\(escaped(outcome.name))\" classname=\"\(escaped(className(outcome.file)))\""
            + " file=\"\(escaped(outcome.file))\" time=\"\(seconds(outcome.milliseconds ?? 0))\""
        guard let failure = outcome.failure else { return head + "/>\n" }
        let element =
            switch outcome.verdict {
            case .failed: "failure"
            case .broken: "error"
            case .passed, .skipped: "skipped"
            }
        let message = "message=\"\(escaped(failure.message))\""
        guard outcome.verdict != .skipped else { return head + ">\n      <skipped \(message)/>\n    </testcase>\n" }
        // Jenkins shows the text. GitLab shows the message if there is no text.
        let lines = [
            "\(outcome.method) \(outcome.url)", outcome.status.map { "status \($0)" } ?? "no response", failure.message,
        ]
        return head + ">\n      <\(element) \(message) type=\"\(escaped(failure.name))\">"
            + escaped(lines.joined(separator: "\n")) + "</\(element)>\n    </testcase>\n"
    }

    /// Jenkins groups test cases by the part of the class name before the last dot.
    private static func className(_ path: String) -> String {
        var words = path.split(separator: "/").filter { $0 != "." && $0 != ".." }.map(String.init)
        for ending in [".http", ".rest"] where words.last?.lowercased().hasSuffix(ending) ?? false {
            words[words.count - 1].removeLast(ending.count)
        }
        return words.joined(separator: ".")
    }

    private static func seconds(_ milliseconds: Double) -> String {
        String(format: "%.6f", milliseconds / 1000)
    }

    /// Escapes text and attribute values. Characters that XML 1.0 (2.2) does not allow, and other control characters,
    /// become U+FFFD.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            // Unescaped line ends and tabs in an attribute would be read as blanks (3.3.3).
            case "\t", "\n", "\r": escaped += "&#\(scalar.value);"
            case "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            case _ where scalar.properties.generalCategory == .control: escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
