import Errand

extension ResilienceParts.Counts {
    /// For the report of `errand bench`; the keys are documented.
    var json: PrintedJSON {
        .object([
            ("transfers", .integer(transfers)),
            ("attempts", .integer(attempts)),
            ("retries", .object(sortedRetries.map { ($0.key, .integer($0.value)) })),
            ("hedges", .integer(hedges)),
            ("hedges_won", .integer(hedgesWon)),
            ("refused_by_breaker", .integer(refusedByBreaker)),
        ])
    }

    /// The same as rows of the table.
    var rows: [(String, String)] {
        let retried = retries.values.reduce(0, +)
        let reasons = sortedRetries.map { "\($0.key) \($0.value.grouped)" }.joined(separator: ", ")
        let share = transfers == 0 ? "" : ", \((Double(attempts) / Double(transfers)).text(2)) per request"
        return [
            ("attempts", "\(attempts.grouped) for \(transfers.grouped) requests\(share), with the warm-up"),
            ("  retries", retried.grouped + (reasons.isEmpty ? "" : ": " + reasons)),
            ("  hedges", "\(hedges.grouped), of which \(hedgesWon.grouped) won"),
            ("  breaker", "\(refusedByBreaker.grouped) refused"),
        ]
    }

    private var sortedRetries: [(key: String, value: Int)] { retries.sorted { $0.key < $1.key } }
}
