/// The due times of an open loop.
struct Pace: Sendable {
    let first: UInt64
    /// Requests a second.
    let rate: Double

    func due(_ number: Int) -> UInt64 {
        first + UInt64(Double(number) * 1e9 / rate)
    }
}
