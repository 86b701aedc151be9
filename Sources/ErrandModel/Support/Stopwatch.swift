import Glibc

/// Measures time with any clock, from the creation of this value.
package struct Stopwatch: Sendable {
    /// The elapsed time.
    package let now: @Sendable () -> Duration
    /// The clock.
    package let clock: any Clock<Duration>

    package init(_ clock: any Clock<Duration>) {
        self.clock = clock
        // Without generics: requests with resilience read this clock two or three times.
        now = clock is ContinuousClock ? Self.continuousReading() : Self.reading(clock)
    }

    /// The clock that `ContinuousClock` reads on Linux, without the two time types in between: a reading then costs a
    /// third.
    private static func continuousReading() -> @Sendable () -> Duration {
        let start = bootTime()
        return { .nanoseconds(bootTime() - start) }
    }

    /// The present time of the clock that `ContinuousClock` reads on Linux, in nanoseconds, which is enough for 292 years.
    package static func bootTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static func reading(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// Throws `CancellationError` if the task is cancelled before the time has passed.
    package func sleep(for time: Duration) async throws {
        try await clock.sleep(for: time)
    }
}

extension Duration {
    /// The longest sleep, about 68 years. Clocks trap when they compute a much later time.
    package static var longestSleep: Duration { .seconds(1 << 31) }
}
