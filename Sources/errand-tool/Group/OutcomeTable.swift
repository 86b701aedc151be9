/// Outcomes as a table: a row for each request, and a total. Rows begin with the file's name if there are several
/// files.
enum OutcomeTable {
    static func text(_ outcomes: [RequestOutcome], hasFiles: Bool) -> String {
        let first = hasFiles ? ["file"] : []
        let head = first + ["request", "method", "status", "ms", "bytes", "result", "url"]
        let rows = [head] + outcomes.map { (hasFiles ? [printable($0.file)] : []) + row($0) }
        let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var text = ""
        for row in rows {
            var line = ""
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                // Columns of numbers are right-aligned, columns of words left-aligned.
                line += (2...4).contains(column - first.count) ? padding + cell : cell + padding
                line += "  "
            }
            while line.last == " " { line.removeLast() }
            text += line + "\n"
        }
        return text + sum(outcomes) + "\n"
    }

    private static func row(_ outcome: RequestOutcome) -> [String] {
        [
            printable(outcome.name), outcome.method, outcome.status.map(String.init) ?? "-",
            outcome.milliseconds?.text(1) ?? "-", outcome.bytes.grouped, outcome.failure?.name ?? "ok",
            printable(outcome.url),
        ]
    }

    private static func sum(_ outcomes: [RequestOutcome]) -> String {
        let failed = outcomes.count { $0.failure != nil && $0.failure?.name != FetchResult.Failure.notRun.name }
        let notRun = outcomes.count { $0.failure?.name == FetchResult.Failure.notRun.name }
        var text = "\(outcomes.count.grouped) \(outcomes.count == 1 ? "request" : "requests"): "
        text += "\((outcomes.count - failed - notRun).grouped) ok, \(failed.grouped) failed"
        return notRun == 0 ? text : text + ", \(notRun.grouped) not run"
    }

    /// Names and URLs contain text from files and servers, and terminals interpret control characters.
    static func printable(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard !isPlain else { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
    }
}
