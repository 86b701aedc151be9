/// Converts durations to the core's time units.
enum CoreTime {
    /// Milliseconds, rounded up; 0 for none.
    static func milliseconds(_ duration: Duration?) -> Int64 {
        guard let duration else { return 0 }
        return Int64((duration.nanoseconds + 999_999) / 1_000_000)
    }
}
