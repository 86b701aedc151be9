import Foundation

/// Ends the parts of a run that are limited by time, whatever the server does: the warm-up, the measured part, and the
/// wait for requests in flight.
enum BenchClock {
    /// The longest sleep of the clock, in nanoseconds. A signal can also end a run, but does not wake the clock.
    private static let period: UInt64 = 100_000_000

    /// Returns when the run is over, when the requests in flight were cancelled, or when the task is cancelled.
    static func run(_ load: BenchLoad, _ engine: any BenchEngine) async {
        while !Task.isCancelled {
            switch load.tick() {
            case .done: return
            case .cut:
                engine.cancel()
                return
            case .next(let due):
                let now = MonotonicTime.now
                let time = min(due.map { $0 > now ? $0 - now : 0 } ?? period, period)
                // When the run ends, cancellation ends the sleep early.
                try? await Task.sleep(for: .nanoseconds(time))
            }
        }
    }
}
