extension Duration {
    /// The number of the slot of this length in which a reading of a clock is, counted from the clock's zero; negative
    /// before it. Whole numbers keep the borders exact, which quotients of `Double` do not.
    func slot(_ length: Duration) -> Int {
        let size = max(length.boundedNanoseconds, 1)
        let (number, rest) = boundedNanoseconds.quotientAndRemainder(dividingBy: size)
        return Int(rest < 0 ? number - 1 : number)
    }

    /// At most 126 years in either direction, so that differences of slots do not overflow.
    private var boundedNanoseconds: Int64 {
        let (seconds, attoseconds) = Swift.min(Swift.max(self, .seconds(-4_000_000_000)), .seconds(4_000_000_000))
            .components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
