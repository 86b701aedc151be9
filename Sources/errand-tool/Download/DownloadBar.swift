import Errand
import Foundation
import Synchronization

/// The progress of a download on standard error: a bar on a terminal, otherwise a line every ten seconds.
final class DownloadBar: Sendable {
    private struct State {
        var isDrawn = false
        var lastLine: UInt64?
        var isOver = false
    }

    private let isShown: Bool
    private let isTerminal: Bool
    private let state = Mutex(State())

    /// The time between lines without a terminal, in nanoseconds.
    private static let interval: UInt64 = 10_000_000_000

    init(isShown: Bool, isTerminal: Bool = StandardError.isTerminal) {
        self.isShown = isShown
        self.isTerminal = isTerminal
    }

    /// Called on the callback queue, at most ten times a second.
    func show(_ report: ProgressReport) {
        guard isShown else { return }
        let now = MonotonicTime.now
        let isDue = state.withLock { state in
            if state.isOver { return false }
            if isTerminal {
                state.isDrawn = true
                return true
            }
            // The first line is printed only after one interval.
            guard let last = state.lastLine else {
                state.lastLine = now
                return false
            }
            guard now - last >= Self.interval else { return false }
            state.lastLine = now
            return true
        }
        guard isDue else { return }
        let line = Self.line(
            report.bytes, of: report.total, rate: report.bytesPerSecond ?? 0, left: report.timeLeft, hasBar: isTerminal)
        if isTerminal { StandardError.write("\r\u{1B}[K" + line) } else { StandardError.print(line) }
    }

    /// Resets the state before the next file.
    func begin() {
        state.withLock { $0 = State() }
    }

    /// Clears the bar.
    func end() {
        let isDrawn = state.withLock { state in
            state.isOver = true
            return state.isDrawn
        }
        if isDrawn { StandardError.write("\r\u{1B}[K") }
    }

    /// `[####....]  42 %  84.0 of 200.0 MB  61.2 MB/s  2 s left`.
    static func line(_ bytes: UInt64, of total: UInt64?, rate: Double, left: Duration?, hasBar: Bool) -> String {
        var parts: [String] = []
        if let total {
            let fraction = total == 0 ? 1 : min(1, Double(bytes) / Double(total))
            let width = 30
            let filled = Int(fraction * Double(width))
            if hasBar {
                let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
                parts.append("[\(bar)]")
            }
            parts.append("\((fraction * 100).text(0)) %")
            parts.append("\(megabytes(bytes)) of \(megabytes(total)) MB")
        } else {
            parts.append("\(megabytes(bytes)) MB")
        }
        if rate > 0 {
            parts.append("\((rate / 1e6).text(1)) MB/s")
            if let left { parts.append("\((left / .seconds(1)).text(0)) s left") }
        }
        return parts.joined(separator: "  ")
    }

    private static func megabytes(_ bytes: UInt64) -> String {
        (Double(bytes) / 1e6).text(1)
    }
}
