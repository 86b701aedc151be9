import ArgumentParser
import Errand
import ErrandLoad
import Foundation

/// `errand bench merge`. ``BenchWords`` joins the two words.
struct BenchMerge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench-merge",
        abstract: "Merges the results of the parts of a load test, exactly.",
        usage: "errand bench merge [<options>] <result> ...",
        discussion: """
            The arguments are files of errand bench --output, of runs with --share of one plan. Counts and histograms \
            are added, and thresholds are judged on the sum. The exit code is 99 if one is not met. Parts that did not \
            begin together are refused, and so are parts of plans with other requests, shapes, data, seeds or thresholds.
            """)

    @Argument(help: "Results of parts of one plan.", completion: .file(extensions: ["json"]))
    var results: [String]

    @OptionGroup var outputs: LoadOutputs

    @Option(
        help: ArgumentHelp(
            "Further condition of the sum, such as 'p99<200ms'. Repeatable.", valueName: "condition"))
    var threshold: [ThresholdArgument] = []

    @Flag(help: "Merge parts also if they did not begin together; the rate is then that of no time.")
    var apart = false

    @Flag(help: "Print the result as JSON instead of tables.")
    var json = false

    func run() async throws {
        try await ToolError.reporting {
            let files = try outputs.open()
            var parts: [LoadResult] = []
            for path in results { parts.append(try LoadResultFile.read(path)) }
            var merged = try merge(parts)
            for argument in threshold {
                let threshold = try argument.threshold(of: "--threshold", aborts: false)
                merged.thresholds.append(threshold.outcome(in: merged))
            }
            for part in parts where part.isInterrupted {
                let shares = part.shares.map { "\($0.index + 1)/\($0.count)" }.joined(separator: ", ")
                StandardError.print("errand: warning: part \(shares) was interrupted")
            }
            let missing = merged.missingShares
            if let count = missing.first?.count {
                let numbers = missing.prefix(10).map { String($0.index + 1) }.joined(separator: ", ")
                let more = missing.count > 10 ? " and \(missing.count - 10) more" : ""
                StandardError.print("errand: warning: of \(count) parts these are missing: \(numbers)\(more)")
            }
            let written = await LoadVerdict.written(merged, to: files)
            try LoadVerdict.report(merged, isJSON: json)
            if let written { throw written }
            try LoadVerdict.judge(merged, isMerged: true)
        }
    }

    private func merge(_ parts: [LoadResult]) throws(ToolError) -> LoadResult {
        do {
            return try LoadResult.merged(parts, allowsApart: apart)
        } catch {
            var text = "the results cannot be merged: \(Shown.text(error.description))"
            if case .apart = error { text += "; see --apart" }
            throw ToolError(.inputData, text)
        }
    }
}

/// Reads the files of `--output`.
enum LoadResultFile {
    static func read(_ path: String) throws(ToolError) -> LoadResult {
        let data = try (path == "-" ? BodyArgument.standardInput : .file(path)).load()
        do {
            return try LoadResult(json: data)
        } catch {
            throw ToolError(
                .inputData,
                "'\(Shown.text(path))' is no result of errand bench --output: \(Shown.text(error.description))")
        }
    }
}
