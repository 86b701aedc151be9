import Foundation
import Synchronization

/// One line on the terminal for all transfers together: a bar if every length is known, otherwise the bytes received so
/// far.
final class FetchProgress: Sendable {
    private struct Totals {
        var received: UInt64 = 0
        /// The sum of the known lengths.
        var expected: UInt64 = 0
        var unknownLengths = 0
        var ended = 0
    }

    private let count: Int
    private let isShown: Bool
    private let totals = Mutex(Totals())
    private let started = MonotonicTime.now

    /// The delay before the bar is drawn; transfers that end earlier show no bar.
    private static let delay = Duration.milliseconds(700)
    private static let interval = Duration.milliseconds(200)

    init(count: Int, isShown: Bool) {
        self.count = count
        self.isShown = isShown && StandardError.isTerminal
    }

    /// Called when a response head arrives, with or without a length.
    func began(length: UInt64?) {
        totals.withLock { totals in
            if let length { totals.expected += length } else { totals.unknownLengths += 1 }
        }
    }

    func received(_ bytes: UInt64) {
        totals.withLock { $0.received += bytes }
    }

    /// Called when a body has broken off and its request is retried.
    func restarted(length: UInt64?, received: UInt64) {
        totals.withLock { totals in
            if let length { totals.expected -= length } else { totals.unknownLengths -= 1 }
            totals.received -= received
        }
    }

    func ended() {
        totals.withLock { $0.ended += 1 }
    }

    /// Draws until cancelled, then clears the line.
    func draw() async {
        guard isShown else { return }
        // Both sleeps throw when the task is cancelled, which ends the drawing.
        guard (try? await Task.sleep(for: FetchProgress.delay)) != nil else { return }
        repeat {
            StandardError.write("\r\u{1B}[K" + line)
        } while (try? await Task.sleep(for: FetchProgress.interval)) != nil
        StandardError.write("\r\u{1B}[K")
    }

    private var line: String {
        let totals = totals.withLock { $0 }
        let seconds = Double(MonotonicTime.now - started) / 1e9
        return FetchProgress.line(
            received: totals.received, expected: totals.unknownLengths == 0 ? totals.expected : 0, ended: totals.ended,
            count: count, seconds: seconds)
    }

    static func line(received: UInt64, expected: UInt64, ended: Int, count: Int, seconds: Double) -> String {
        var parts: [String] = []
        let rate = seconds > 0 ? Double(received) / seconds : 0
        if expected > 0, received <= expected {
            let share = Double(received) / Double(expected)
            let width = 30
            let filled = Int(share * Double(width))
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
            parts.append("[\(bar)] \((share * 100).text(0)) %")
            parts.append("\(megabytes(received)) of \(megabytes(expected)) MB")
            if rate > 0 { parts.append("\((Double(expected - received) / rate).text(0)) s left") }
        } else if received > 0 {
            parts.append("\(megabytes(received)) MB")
        }
        if received > 0 { parts.append("\((rate / 1e6).text(1)) MB/s") }
        if count > 1 { parts.append("\(ended) of \(count) done") }
        return parts.joined(separator: "  ")
    }

    private static func megabytes(_ bytes: UInt64) -> String {
        (Double(bytes) / 1e6).text(1)
    }
}
