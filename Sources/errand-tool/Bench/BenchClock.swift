import Foundation

/// Ends the parts of a run that are limited by time, whatever the server does: the warm-up, the measured part, and the
/// wait for requests in flight.
enum BenchClock {
    /// The longest sleep of the clock, in nanoseconds. A signal can also end a run, and does not wake the clock.
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
                // The sleep ends early by cancellation when the run ends.
                try? await Task.sleep(for: .nanoseconds(time))
            }
        }
    }
}

/// Nanoseconds of the monotonic clock. A plain system call, because the benchmark makes two calls for each request.
enum MonotonicTime {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Sleeps until that time; returns at once where it has passed.
    static func sleep(until nanoseconds: UInt64) {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}

extension Duration {
    var nanoseconds: UInt64 {
        UInt64(Swift.max(0, components.seconds)) * 1_000_000_000 + UInt64(components.attoseconds / 1_000_000_000)
    }
}
