import ArgumentParser
import Errand
import ErrandLoad
import Foundation
import HTTPTypes

/// The files to which a result is written.
struct LoadOutputs: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the result as JSON to this file, for errand bench compare and errand bench merge.", valueName: "path"
        ),
        completion: .file())
    var output: String?

    @Option(help: ArgumentHelp("Write the time series to this file, as CSV.", valueName: "path"), completion: .file())
    var csv: String?

    @Option(
        help: ArgumentHelp("Write a report with charts to this file, which needs no network.", valueName: "path"),
        completion: .file())
    var html: String?

    @Option(
        help: ArgumentHelp("Write thresholds and checks to this file, as JUnit XML.", valueName: "path"),
        completion: .file())
    var junit: String?

    @Option(
        help: ArgumentHelp(
            "Write the latencies of each interval to this file, as an HdrHistogram log.", valueName: "path"),
        completion: .file())
    var hlog: String?

    @Option(
        help: ArgumentHelp(
            """
            Write the figures to this file as OpenMetrics text, or send them to this http or https URL by PUT, in the \
            text format 0.0.4 that a Prometheus Pushgateway takes.
            """, valueName: "path|url"),
        completion: .file())
    var openMetrics: String?

    /// The options that are given.
    var given: [String] {
        let options: [(String, String?)] = [
            ("--output", output), ("--csv", csv), ("--html", html), ("--junit", junit), ("--hlog", hlog),
            ("--open-metrics", openMetrics),
        ]
        return options.filter { $0.1 != nil }.map(\.0)
    }

    /// Opens all files, so that a missing folder is reported before any request is sent.
    func open() throws(ToolError) -> LoadOutputFiles {
        try LoadOutputFiles(self)
    }
}

/// The opened files of ``LoadOutputs``.
final class LoadOutputFiles {
    private let json: ReportFile?
    private let csv: ReportFile?
    private let html: ReportFile?
    private let junit: ReportFile?
    private let hlog: ReportFile?
    private let openMetrics: ReportFile?
    private let gateway: URLArgument?

    init(_ outputs: LoadOutputs) throws(ToolError) {
        func file(_ path: String?, _ option: String) throws(ToolError) -> ReportFile? {
            guard let path else { return nil }
            guard path != "-" else {
                throw ToolError(.usage, "\(option) requires a file; /dev/stdout is standard output")
            }
            return try ReportFile(path, option: option)
        }
        let metrics = outputs.openMetrics
        let isURL = ["http://", "https://"].contains { metrics?.lowercased().hasPrefix($0) == true }
        gateway = isURL ? metrics.map { URLArgument(argument: $0) } : nil
        json = try file(outputs.output, "--output")
        csv = try file(outputs.csv, "--csv")
        html = try file(outputs.html, "--html")
        junit = try file(outputs.junit, "--junit")
        hlog = try file(outputs.hlog, "--hlog")
        openMetrics = isURL ? nil : try file(metrics, "--open-metrics")
    }

    /// The paths of the incomplete files. A second signal ends the process, and its handler must remove these files
    /// first.
    var partials: [String] {
        [json, csv, html, junit, hlog, openMetrics].compactMap { $0?.partial }
    }

    /// Writes all files, and then throws the first failure.
    func write(_ result: LoadResult) async throws(ToolError) {
        var failure: ToolError?
        func write(_ body: () throws(ToolError) -> Void) {
            do {
                try body()
            } catch {
                failure = failure ?? error
            }
        }
        write { () throws(ToolError) in try json?.write([UInt8](result.json)) }
        write { () throws(ToolError) in try csv?.write(CSVReport(result).text) }
        write { () throws(ToolError) in try html?.write(HTMLReport(result).text) }
        write { () throws(ToolError) in try junit?.write(JUnitLoadReport(result).text) }
        write { () throws(ToolError) in try hlog?.write(HistogramLog(result).text) }
        write { () throws(ToolError) in try openMetrics?.write(OpenMetricsReport(result).text) }
        if let gateway, let refused = await MetricsPush.failure(OpenMetricsReport(result).prometheusText, to: gateway) {
            failure = failure ?? refused
        }
        if let failure { throw failure }
    }
}

/// Sends metrics to a Pushgateway.
enum MetricsPush {
    private static let contentType = "text/plain; version=0.0.4; charset=utf-8"
    private static let limit = Duration.seconds(30)

    /// Returns the reason why the metrics could not be sent; `nil`: they were sent.
    static func failure(_ text: String, to url: URLArgument) async -> ToolError? {
        let (address, user) = url.withoutUser
        var headers = HTTPFields()
        headers[.contentType] = contentType
        var raw = RawCommand(
            method: .put, url: address, headers: headers, body: .bytes(Array(text.utf8), contentType: nil))
        raw.timeouts = Timeouts(total: .after(limit))
        var configuration = Client.Configuration()
        configuration.loops = 1
        configuration.userAgent = "errand"
        let client = Client(configuration: configuration)
        var failure: String?
        do {
            let response = try await client.run(FetchCommand(raw, user, usesDigest: false))
            if !(200...299).contains(response.statusCode) { failure = "the answer is \(response.statusCode)" }
        } catch let error as ErrandError {
            failure = ToolError.text(error)
        } catch {
            failure = ToolError.reason(error)
        }
        await client.shutdown(.cancel)
        return failure.map { ToolError(.outputFile, "--open-metrics: cannot send to '\(Shown.url(address))': \($0)") }
    }
}
