/// Outcomes in the Test Anything Protocol, version 14, which readers of version 13 also accept.
enum TAPReport {
    static func text(_ outcomes: [RequestOutcome], hasFiles: Bool, isInterrupted: Bool) -> String {
        var text = "TAP version 14\n1..\(outcomes.count)\n"
        for (index, outcome) in outcomes.enumerated() {
            let name = hasFiles ? "\(outcome.file): \(outcome.name)" : outcome.name
            let isOK = outcome.verdict == .passed || outcome.verdict == .skipped
            text += "\(isOK ? "ok" : "not ok") \(index + 1) - \(escaped(name))"
            guard let failure = outcome.failure else {
                text += "\n"
                continue
            }
            guard outcome.verdict != .skipped else {
                text += " # SKIP \(escaped(failure.message))\n"
                continue
            }
            text += "\n  ---\n"
            for (key, value) in details(outcome, failure) { text += "  \(key): \(value.text())\n" }
            text += "  ...\n"
        }
        return isInterrupted ? text + "Bail out! interrupted\n" : text
    }

    /// The YAML block of an outcome, written as JSON, which is valid YAML.
    private static func details(
        _ outcome: RequestOutcome, _ failure: FetchResult.Failure
    ) -> [(String, PrintedJSON)] {
        [
            ("message", .string(OutcomeTable.printable(failure.message))), ("severity", .string("fail")),
            ("kind", .string(failure.name)), ("file", .string(outcome.file)), ("method", .string(outcome.method)),
            ("url", .string(OutcomeTable.printable(outcome.url))),
            ("status", outcome.status.map { .integer($0) } ?? .null),
            ("duration_ms", outcome.milliseconds.map { .number($0) } ?? .null),
            ("exit_code", .integer(failure.exit.rawValue)),
        ]
    }

    /// Escapes the number sign, because it begins a directive.
    private static func escaped(_ text: String) -> String {
        OutcomeTable.printable(text).replacing("\\", with: "\\\\").replacing("#", with: "\\#")
    }
}
