/// Measures time with any clock, from the creation of this value.
package struct Stopwatch: Sendable {
    /// The elapsed time.
    package let now: @Sendable () -> Duration
    /// The clock.
    package let clock: any Clock<Duration>

    package init(_ clock: any Clock<Duration>) {
        self.clock = clock
        now = Self.reading(clock)
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
