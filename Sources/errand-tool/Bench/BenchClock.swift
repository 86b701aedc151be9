/// Ends what ends by time, whatever the server does: the warm-up, the measured part, and the wait for what is in flight.
enum BenchClock {
    /// A run may also be ended by a signal, of which nothing wakes the clock.
    private static let period: UInt64 = 100_000_000

    /// Returns when the run is over, what is in flight was cancelled, or the task is.
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
                // Ends early, by cancellation, when the run does.
                try? await Task.sleep(for: .nanoseconds(time))
            }
        }
    }
}
