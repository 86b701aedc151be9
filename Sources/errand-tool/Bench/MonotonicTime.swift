import Foundation

/// Nanoseconds of the monotonic clock. This is a plain system call, because the benchmark reads the clock twice for
/// each request. It has its own file, because Benchmarks/Rivals compiles it too.
enum MonotonicTime {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Sleeps until that time; returns at once if it has passed.
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
