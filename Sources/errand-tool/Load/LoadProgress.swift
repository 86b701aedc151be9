import Errand
import ErrandLoad
import Foundation

/// The live view of a load test on standard error: one line that fits the terminal, or without a terminal a line every
/// ten seconds.
final class LoadProgress: Sendable {
    private let task: Task<Void, Never>?
    private let isTerminal: Bool

    private static let interval = Duration.milliseconds(250)
    private static let pause = Duration.seconds(10)

    init(_ run: LoadRun, isShown: Bool, isTerminal: Bool = StandardError.isTerminal) {
        self.isTerminal = isTerminal
        guard isShown else {
            task = nil
            return
        }
        task = Task {
            let style = LoadLine.Style.ofProcess
            // When the run ends, cancellation ends the sleep early. Without a terminal, the first line is printed after
            // one interval.
            while !Task.isCancelled {
                if isTerminal {
                    let line = LoadLine(run.snapshot, run.plan)
                    StandardError.write("\r\u{1B}[K" + line.text(width: TerminalWidth.current - 1, style))
                    try? await Task.sleep(for: LoadProgress.interval)
                } else {
                    guard (try? await Task.sleep(for: LoadProgress.pause)) != nil else { return }
                    StandardError.print(LoadLine(run.snapshot, run.plan).text(width: .max, LoadLine.Style()))
                }
            }
        }
    }

    func end() async {
        guard let task else { return }
        task.cancel()
        await task.value
        clear()
    }

    /// Clears the line. Any thread.
    func clear() {
        if task != nil, isTerminal { StandardError.write("\r\u{1B}[K") }
    }
}

/// The width of the terminal of standard error.
enum TerminalWidth {
    /// 80 if the terminal does not report a width.
    static var current: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

/// The text of the live view.
struct LoadLine {
    /// The style that the terminal can show.
    struct Style: Sendable {
        var hasColor = false
        var hasUnicode = false

        /// The style that `NO_COLOR`, `TERM` and the locale determine.
        static var ofProcess: Style {
            let environment = ProcessInfo.processInfo.environment
            let isPlain = environment["NO_COLOR"]?.isEmpty == false || environment["TERM"] == "dumb"
            let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
            let encoding = locale.lowercased().replacing("-", with: "")
            return Style(hasColor: !isPlain, hasUnicode: encoding.hasSuffix("utf8"))
        }
    }

    private let snapshot: LoadSnapshot
    private let plan: LoadPlan

    init(_ snapshot: LoadSnapshot, _ plan: LoadPlan) {
        self.snapshot = snapshot
        self.plan = plan
    }

    /// The line, of at most `width` columns. Rate and percentiles are those of the last complete interval.
    func text(width: Int, _ style: Style) -> String {
        let errors = snapshot.counts.unanswered + snapshot.rejected
        let errorText = "\(errors.grouped) \(errors == 1 ? "error" : "errors")"
        var parts = [clock]
        parts += stage.map { [$0] } ?? []
        if let last = snapshot.recent.last, snapshot.phase != .waiting {
            let seconds = Double(snapshot.interval.nanoseconds) / 1e9
            parts.append("\((Double(last.answered) / max(seconds, 1e-9)).text(0))/s")
            parts.append("p50 \((Double(last.p50) / 1e9).timeText)")
            parts.append("p99 \((Double(last.p99) / 1e9).timeText)")
        }
        parts.append(errorText)
        parts.append("\(snapshot.users.grouped) \(snapshot.users == 1 ? "user" : "users")")
        var line = ""
        for part in parts {
            let longer = line.isEmpty ? part : line + "  " + part
            guard longer.count <= width else { break }
            line = longer
        }
        let left = min(60, width - line.count - 2)
        if style.hasUnicode, left >= 8 {
            let curve = Sparkline.text(snapshot.recent.suffix(left).map { Double($0.answered) })
            if !curve.isEmpty { line += "  " + curve }
        }
        guard style.hasColor, errors > 0 else { return line }
        return line.replacing(errorText, with: "\u{1B}[31m\(errorText)\u{1B}[0m", maxReplacements: 1)
    }

    private var clock: String {
        switch snapshot.phase {
        case .waiting: "waiting for the start"
        case .warmingUp: "warming up"
        // If no time is given, the number of requests ends the run.
        case .measuring where plan.requestLimit != nil && snapshot.planned >= LoadPlan.longest:
            Self.time(snapshot.elapsed) + "  " + requests
        case .measuring: "\(Self.time(snapshot.elapsed)) of \(Self.time(snapshot.planned))"
        case .draining, .done: "ending"
        }
    }

    /// The number of requests that have ended, and the total. A part of a plan shows no total, because it sends only a
    /// part of it.
    private var requests: String {
        let ended = "\(snapshot.counts.due.grouped)"
        guard let limit = plan.requestLimit, plan.share == .whole else { return ended + " requests" }
        return "\(ended) of \(limit.grouped) requests"
    }

    /// The stage of the scenario with the most stages; `nil`: there is only one.
    private var stage: String? {
        let all = plan.scenarios.map { scenario -> [LoadStage] in
            switch scenario.shape {
            case .users(let stages): stages
            case .arrivals(let stages, _, _): stages
            }
        }
        guard snapshot.phase == .measuring, let stages = all.max(by: { $0.count < $1.count }), stages.count > 1 else {
            return nil
        }
        var end = Duration.zero
        for (index, stage) in stages.enumerated() {
            end += stage.duration
            if snapshot.elapsed < end { return "stage \(index + 1)/\(stages.count)" }
        }
        return "stage \(stages.count)/\(stages.count)"
    }

    /// `75 s` as `1:15`.
    static func time(_ duration: Duration) -> String {
        let seconds = duration.nanoseconds / 1_000_000_000
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        func two(_ value: UInt64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return hours > 0
            ? "\(hours):\(two(minutes)):\(two(seconds % 60))" : "\(minutes):\(two(seconds % 60))"
    }
}

/// A curve of one line, from U+2581 to U+2588.
enum Sparkline {
    static func text(_ values: [Double]) -> String {
        guard let top = values.max(), top > 0 else { return "" }
        let marks = Array("▁▂▃▄▅▆▇█")
        return String(values.map { marks[min(marks.count - 1, Int($0 / top * Double(marks.count - 1) + 0.5))] })
    }
}
