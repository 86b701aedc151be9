import Errand
import Synchronization

/// What a storm counts, and what went wrong in it.
final class StormLedger: Sendable {
    struct Totals: Sendable {
        var starts = 0
        var refusedStarts = 0
        var endings: [String: Int] = [:]
        var problems: [String] = []
        var problemCount = 0
    }

    /// Whether closures hear of stops.
    let reportsStops: Bool
    /// Runs with closures that are not released yet.
    let openRuns = Atomic<Int>(0)
    /// `async` callers that wait.
    let openTasks = Atomic<Int>(0)
    /// Accessories that were told of a start and not of the end.
    let openAccessories = Atomic<Int>(0)
    /// Stops of whatever runs, as by `cancelAll`.
    let generalStops = StormStops()
    /// Whether the client is being shut down, which may end anything.
    let isShuttingDown = Atomic<Bool>(false)
    private let noted = Mutex(Totals())

    init(reportsStops: Bool) {
        self.reportsStops = reportsStops
    }

    var totals: Totals { noted.withLock { $0 } }

    func problem(_ words: String) {
        noted.withLock { totals in
            totals.problemCount += 1
            if totals.problems.count < 20 { totals.problems.append(words) }
        }
    }

    func started(_ isAccepted: Bool) {
        noted.withLock { totals in
            totals.starts += 1
            if !isAccepted { totals.refusedStarts += 1 }
        }
    }

    func ended(_ how: String) {
        noted.withLock { $0.endings[how, default: 0] += 1 }
    }

    /// Judges an end that somebody was told of. `mayBeStopped`: somebody has asked for that, or the client shuts down.
    func judge(
        _ result: Result<Int, ErrandError>?, of target: StormTarget, mayBeStopped: Bool, _ context: String,
        _ metrics: TransferMetrics? = nil
    ) {
        let isShuttingDown = isShuttingDown.load(ordering: .relaxed)
        switch result {
        case nil:
            problem("\(context) of \(target): told without a result")
        case .failure(.cancelled):
            ended("cancelled")
            if !mayBeStopped { problem("\(context) of \(target): cancelled, and nobody stopped it") }
        case .failure(.shutDown) where isShuttingDown:
            ended("shut down")
        case let result?:
            if case .failure(let error) = result { ended(error.shortDescription) } else { ended("succeeded") }
            if !target.permits(result) {
                problem("\(context) of \(target): \(result)" + (metrics.map { ", \($0)" } ?? ""))
            }
        }
    }
}
