import Histogram

/// One line on the terminal, twice a second, while a run goes on.
final class BenchProgress: Sendable {
    private let task: Task<Void, Never>?

    /// Shows nothing where standard error is no terminal.
    init(_ load: BenchLoad, isShown: Bool) {
        guard isShown, StandardError.isTerminal else {
            task = nil
            return
        }
        task = Task {
            while !Task.isCancelled {
                StandardError.write("\r\u{1B}[K" + BenchProgress.line(load))
                // Ends early, by cancellation, when the run does.
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
        guard let (result, from, to) = load.snapshot() else { return "warming up" }
        let seconds = Double(to.time - from.time) / 1e9
        let rate = seconds > 0 ? Double(result.answered) / seconds : 0
        let p99 = result.answered > 0 ? Double(result.latency.valueAtPercentile(99)) / 1e3 : 0
        return "\(seconds.text(1)) s  \(result.requests.grouped) requests  \(rate.text(0))/s  "
            + "p99 \(p99.text(0)) us  \(result.errors.grouped) errors"
    }
}
