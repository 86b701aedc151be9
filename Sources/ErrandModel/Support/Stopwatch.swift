/// A clock of any kind, its moments counted from the making of this value.
package struct Stopwatch: Sendable {
    /// The time gone by.
    package let now: @Sendable () -> Duration
    private let clock: any Clock<Duration>

    package init(_ clock: any Clock<Duration>) {
        self.clock = clock
        now = Self.reading(clock)
    }

    private static func reading(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// Throws `CancellationError` where the task is cancelled first.
    package func sleep(for time: Duration) async throws {
        try await clock.sleep(for: time)
    }
}
