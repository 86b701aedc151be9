/// The slots of a sliding window: places that take turns, each for one length of time.
///
/// The window moves by one slot at a time. A clock that goes backwards stays in the newest slot.
struct SlotRing: Sendable {
    /// The number of places.
    let count: Int
    private let slotTime: Duration
    /// The number of the newest slot.
    private var newest: Int?

    /// - Parameter window: the time of all slots together.
    init(window: Duration, count: Int) {
        self.count = count
        slotTime = window / count
    }

    /// Moves to the slot of a time. Returns the place of that slot, and the places to be emptied, which is often none.
    mutating func advance(to now: Duration) -> (place: Int, emptied: [Int]) {
        let number = now.slot(slotTime)
        let former = newest ?? number
        let current = max(former, number)
        newest = current
        let emptied = (0..<min(current - former, count)).map { place(current - $0) }
        return (place(current), emptied)
    }

    private func place(_ number: Int) -> Int {
        let rest = number % count
        return rest < 0 ? rest + count : rest
    }
}

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
