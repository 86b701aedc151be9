import Errand
import ErrandLoad
import Foundation

/// Runs a load test, from checking the plan to the exit code.
struct LoadSession {
    let plan: LoadPlan
    let outputs: LoadOutputs
    /// Whether the result is printed as JSON.
    let isJSON: Bool
    let showsProgress: Bool
    /// The path of the plan; `nil`: the command line describes the plan.
    var source: String?

    func run() async throws {
        let files = try outputs.open()
        let run: LoadRun
        do {
            run = try LoadRun(plan)
        } catch {
            throw failure(error)
        }
        let progress = LoadProgress(run, isShown: showsProgress)
        let partials = files.partials
        let interrupt = Interrupt({ run.stop() }) {
            for partial in partials { unlink(partial) }
            progress.clear()
        }
        // Signals are also handled while the reports are written, so that the first signal does not leave them
        // half-written.
        defer { interrupt.end() }
        let result: LoadResult
        do {
            result = try await run.run()
        } catch {
            await progress.end()
            throw LoadSession.failure(error)
        }
        await progress.end()
        let written = await LoadVerdict.written(result, to: files)
        try LoadVerdict.report(result, isJSON: isJSON)
        if let written { throw written }
        if plan.share != .whole, let limit = plan.requestLimit, let own = plan.ownRequestLimit {
            guard own > 0 else {
                StandardError.print("errand: this part of the plan has none of its \(limit.grouped) requests")
                return
            }
            // If users or data end, a part cannot know how many requests the other parts send.
            let due = result.total.counts.due
            if due < own, !result.isInterrupted, result.abortedBy == nil {
                StandardError.print(
                    "errand: this part of the plan sent \(due.grouped) of its \(own.grouped) requests before its time, users or "
                        + "data ended; all parts together have fewer than the \(limit.grouped) of the plan")
            }
        }
        try LoadVerdict.judge(result)
    }

    private func failure(_ error: LoadPlanError) -> ToolError {
        if case .invalidRequest(_, _, let error) = error { return ToolError(error) }
        guard let source else { return ToolError(.usage, Shown.text(error.description)) }
        return ToolError(.inputData, "\(source): \(Shown.text(error.description))")
    }

    private static func failure(_ error: LoadRunError) -> ToolError {
        switch error {
        case .startIsPast: ToolError(.usage, "--start-at: \(error.description)")
        case .noRequest: ToolError(.noRequest, Shown.text(error.description))
        case .noThread: ToolError(.system, error.description)
        case .hasRun: ToolError(.internalFailure, error.description)
        }
    }
}

/// The meaning of a result for the caller of the tool: text, and the exit code.
enum LoadVerdict {
    /// Writes the files. Returns the failure instead of throwing it, so that the result is still printed.
    static func written(_ result: LoadResult, to files: LoadOutputFiles) async -> ToolError? {
        do throws(ToolError) {
            try await files.write(result)
            return nil
        } catch {
            return error
        }
    }

    static func report(_ result: LoadResult, isJSON: Bool) throws(ToolError) {
        try StandardOutput.write(isJSON ? String(decoding: result.json, as: UTF8.self) : TextReport(result).text)
    }

    /// Throws the exit code of an interrupt, of unmet thresholds, or of a run that sent nothing. Without thresholds,
    /// also that of requests without a response. `isMerged`: an interrupt of a part is not an interrupt of this
    /// command.
    static func judge(_ result: LoadResult, isMerged: Bool = false) throws(ToolError) {
        let unmet = result.thresholds.filter { !$0.isMet }
        for outcome in unmet { StandardError.print("errand: " + line(outcome)) }
        if result.isInterrupted, !isMerged { throw ToolError(.interrupted, "interrupted") }
        // The threshold that ended the run may be met again when the requests in flight have ended.
        let early = result.abortedBy.map { Shown.text($0) + " ended the run early" }
        guard unmet.isEmpty, early == nil else {
            let count = unmet.count > 1 ? "\(unmet.count) thresholds are not met" : "a threshold is not met"
            throw ToolError(.threshold, ([count] + (early.map { [$0] } ?? [])).joined(separator: "; "))
        }
        let total = result.total
        let due = total.counts.due
        let reason = result.failures.first.map { ": \(Shown.text($0))" } ?? ""
        guard due > 0 else { throw ToolError(.noRequest, "no request was sent" + reason) }
        // If thresholds are given, only they determine what a failure is.
        guard result.thresholds.isEmpty else { return }
        let lost = total.counts.failed + total.counts.timedOut
        if lost > 0, lost >= total.counts.unfinished, total.counts.answered == 0,
            let status = ExitStatus(mostOf: total.errors)
        {
            throw ToolError(status, "no request got a response" + reason)
        }
        if result.everyIterationFailed { throw ToolError(.noRequest, "all iterations failed" + reason) }
        if total.counts.neverSent > 0 {
            StandardError.print(
                "errand: \(total.counts.neverSent.grouped) of \(due.grouped) due requests were never sent: the load "
                    + "generator is the limit")
        }
        if total.counts.unfinished > 0 {
            throw ToolError(
                .timeout,
                "\(total.counts.unfinished.grouped) of \(due.grouped) requests had no response at the end of the run")
        }
    }

    private static func line(_ outcome: ThresholdOutcome) -> String {
        let measured = outcome.measured.map { text($0, outcome.threshold.measure) } ?? "nothing was measured"
        return "the threshold \(Shown.text(outcome.threshold.description)) is not met: \(measured)"
    }
}

extension LoadVerdict {
    /// A measured value in its unit.
    private static func text(_ value: Double, _ measure: LoadThreshold.Measure) -> String {
        switch measure {
        case .percentile, .mean, .max: (value / 1e9).timeText
        case .errors, .checks, .neverSent, .iterations: (value * 100).text(2) + " %"
        case .rate: value.text(value < 10 ? 2 : 0) + "/s"
        }
    }
}

extension ExitStatus {
    /// The code of the most frequent failure; `nil`: there is none.
    init?(mostOf errors: [LoadError: UInt64]) {
        guard let error = errors.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key else { return nil }
        if error.kind.hasPrefix("timeout") || error.kind == "deadlineExceeded" {
            self = .timeout
            return
        }
        switch error.phase {
        case .queue: self = .system
        case .resolve: self = .resolve
        case .connect: self = .connect
        case .tls: self = .tls
        case .firstByte, .body: self = .connectionLost
        case .check: self = .httpStatus
        }
    }
}
