import ArgumentParser
import Errand
import ErrandLoad
import Foundation

/// `errand bench compare`. ``BenchWords`` joins the two words.
struct BenchCompare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench-compare",
        abstract: "Compares two results of errand bench, with a verdict that knows the noise.",
        usage: "errand bench compare [<options>] <before> <after>",
        discussion: """
            The arguments are files of errand bench --output. A figure is better or worse only if it changed by at \
            least --smallest-change, the confidence intervals of both values do not overlap, and the parts of the runs \
            differ by a test of ranks. Errors that came in a few seconds of one run differ in bursts, which is neither; the \
            bursts are shown. If any figure is worse, or the second run was ended early by a threshold or lacks \
            requests of the first one, the exit code is 99.

            --json prints one object: smallest_change, worse, incomplete, remarks [text], rows [{scenario, name, figures [{measure, verdict, \
            before {value, low, high}, after {value, low, high}, change, chance, bursts [{start_seconds, seconds, errors, \
            requests}]}], errors_before {errors, requests}, errors_after {errors, requests}}], only_before, only_after. \
            The rate is in requests a second, errors are a share, and latencies are in nanoseconds. Verdicts are better, \
            worse, no_difference, differs_in_bursts and too_little_data.
            """)

    @Argument(help: "The result before.", completion: .file(extensions: ["json"]))
    var before: String

    @Argument(help: "The result after.", completion: .file(extensions: ["json"]))
    var after: String

    @Option(help: ArgumentHelp("Smallest change that counts.", valueName: "share"))
    var smallestChange = PercentArgument(share: 0.02)

    @Option(
        help: ArgumentHelp("Write a report with charts of both results to this file.", valueName: "path"),
        completion: .file())
    var html: String?

    @Flag(help: "Print JSON instead of the tables.")
    var json = false

    func run() async throws {
        try await ToolError.reporting {
            let report = try html.map { path throws(ToolError) in try ReportFile(path, option: "--html") }
            let first = try LoadResultFile.read(before)
            let second = try LoadResultFile.read(after)
            let comparison = LoadComparison(
                before: first, after: second, smallestChange: smallestChange.share)
            try report?.write(
                HTMLReport(second, before: first, smallestChange: smallestChange.share).text)
            try StandardOutput.write(
                json ? comparison.json.text(pretty: true) + "\n" : TextReport.text(comparison))
            if comparison.isWorse { throw ToolError(.threshold, "a figure is worse than before") }
            if comparison.isIncomplete { throw ToolError(.threshold, "the second run is incomplete") }
        }
    }
}

extension LoadComparison {
    /// The documented object of `--json`.
    fileprivate var json: PrintedJSON {
        .object([
            ("smallest_change", .number(smallestChange)),
            ("worse", .bool(isWorse)),
            ("incomplete", .bool(isIncomplete)),
            ("remarks", .array(remarks.map { .string($0) })),
            ("rows", .array(rows.map(Self.json))),
            ("only_before", .array(onlyBefore.map { .string($0) })),
            ("only_after", .array(onlyAfter.map { .string($0) })),
        ])
    }

    private static func json(_ row: Row) -> PrintedJSON {
        .object([
            ("scenario", .string(row.scenario)),
            ("name", .string(row.name)),
            ("figures", .array(row.figures.map(json))),
            ("errors_before", json(row.errorsBefore)),
            ("errors_after", json(row.errorsAfter)),
        ])
    }

    private static func json(_ errors: Errors) -> PrintedJSON {
        .object([("errors", .integer(errors.errors)), ("requests", .integer(errors.requests))])
    }

    private static func json(_ burst: Burst) -> PrintedJSON {
        .object([
            ("start_seconds", .number(burst.start / .seconds(1))),
            ("seconds", .number(burst.duration / .seconds(1))),
            ("errors", .integer(burst.errors)),
            ("requests", .integer(burst.requests)),
        ])
    }

    private static func json(_ figure: Figure) -> PrintedJSON {
        .object([
            ("measure", .string(figure.measure.rawValue)),
            ("verdict", .string(figure.verdict.rawValue)),
            ("before", json(figure.before)),
            ("after", json(figure.after)),
            ("change", figure.change.map { .number($0) } ?? .null),
            ("chance", figure.chance.map { .number($0) } ?? .null),
            ("bursts", .array(figure.bursts.map(json))),
        ])
    }

    private static func json(_ value: Value?) -> PrintedJSON {
        guard let value else { return .null }
        return .object([("value", .number(value.value)), ("low", .number(value.low)), ("high", .number(value.high))])
    }
}
