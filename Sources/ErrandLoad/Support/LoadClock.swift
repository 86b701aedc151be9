import Glibc

/// Nanoseconds of the monotonic clock. Plain system calls, because each request needs two readings.
package enum LoadClock {
    package static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// Blocks the thread until that time; returns at once if the time has passed.
    static func sleep(until nanoseconds: UInt64) {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}

extension Double {
    /// The natural logarithm.
    var logarithm: Double { log(self) }
}

extension Duration {
    /// Nanoseconds, from 0 to 2^62.
    package var loadNanoseconds: UInt64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        guard seconds < 4_000_000_000 else { return 1 << 62 }
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
