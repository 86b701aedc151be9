/// The due times of an open loop.
struct Pace: Sendable {
    let first: UInt64
    /// Requests a second.
    let rate: Double
    /// Nanoseconds between sends: requests that are due are sent at the next multiple; 0: each request is sent at its
    /// own time.
    let tick: UInt64

    func due(_ number: Int) -> UInt64 {
        first + UInt64(Double(number) * 1e9 / rate)
    }

    func departure(_ due: UInt64) -> UInt64 {
        let past = tick == 0 ? 0 : (due - first) % tick
        return past == 0 ? due : due + tick - past
    }
}
