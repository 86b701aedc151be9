import Histogram

/// The progress of a run: one line on the terminal, updated twice a second.
final class BenchProgress: Sendable {
    private let task: Task<Void, Never>?

    /// Shows nothing if standard error is not a terminal.
    init(_ load: BenchLoad, isShown: Bool) {
        guard isShown, StandardError.isTerminal else {
            task = nil
            return
        }
        task = Task {
            while !Task.isCancelled {
                StandardError.write("\r\u{1B}[K" + BenchProgress.line(load))
                // When the run ends, cancellation ends the sleep early.
                try? await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    func end() async {
        guard let task else { return }
        task.cancel()
        await task.value
        StandardError.write("\r\u{1B}[K")
    }

    private static func line(_ load: BenchLoad) -> String {
        guard let snapshot = load.snapshot() else { return "warming up" }
        let result = snapshot.result
        let p99 = result.latency.totalCount > 0 ? Double(result.latency.valueAtPercentile(99)) / 1e9 : 0
        return "\(snapshot.seconds.text(1)) s  \(result.requests.grouped) requests  "
            + "\(snapshot.answeredPerSecond.text(0))/s  p99 \(p99.timeText)  \(result.errors.grouped) errors"
    }
}
