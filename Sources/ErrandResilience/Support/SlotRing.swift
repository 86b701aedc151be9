/// The slots of a sliding window: places that take turns, each for one length of time.
///
/// The window moves by one slot at a time. A clock that goes backwards stays in the newest slot.
struct SlotRing: Sendable {
    /// The number of places.
    let count: Int
    private let slotTime: Duration
    /// The number of the newest slot.
    private var newest: Int?
    /// The place of the newest slot.
    private(set) var newestPlace = 0
    /// The times of the newest slot. Most calls are within it, and a division of durations costs as much as the rest of
    /// a part's work.
    private var times = Duration.zero..<Duration.zero

    /// - Parameter window: the time of all slots together.
    init(window: Duration, count: Int) {
        self.count = count
        slotTime = window / count
    }

    /// Moves to the slot of a time. Returns the place of that slot, and the places to be emptied, which is often none.
    mutating func advance(to now: Duration) -> (place: Int, emptied: [Int]) {
        if let current = currentPlace(now) { return (current, []) }
        let number = now.slot(slotTime)
        let former = newest ?? number
        let current = max(former, number)
        newest = current
        newestPlace = place(current)
        times = Duration.times(ofSlot: current, slotTime)
        let emptied = (0..<min(current - former, count)).map { place(current - $0) }
        return (newestPlace, emptied)
    }

    /// The place of the newest slot if the time is within it.
    func currentPlace(_ now: Duration) -> Int? {
        isCurrent(now) ? newestPlace : nil
    }

    /// Whether the time is within the newest slot.
    func isCurrent(_ now: Duration) -> Bool { newest != nil && times.lowerBound <= now && now < times.upperBound }

    /// The place of the slot of a time that the window has reached; `nil`: the window has left that slot.
    func place(of time: Duration) -> Int? {
        if isCurrent(time) { return newestPlace }
        guard let newest else { return nil }
        let number = time.slot(slotTime)
        guard number <= newest, newest - number < count else { return nil }
        return place(number)
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
        let size = length.slotNanoseconds
        let (number, rest) = boundedNanoseconds.quotientAndRemainder(dividingBy: size)
        return Int(rest < 0 ? number - 1 : number)
    }

    /// The readings within a slot, as far as they are whole nanoseconds.
    static func times(ofSlot number: Int, _ length: Duration) -> Range<Duration> {
        let size = length.slotNanoseconds
        let (start, overflows) = Int64(number).multipliedReportingOverflow(by: size)
        guard !overflows, start < .max - size else { return .zero..<(.zero) }
        return .nanoseconds(start)..<(.nanoseconds(start + size))
    }

    private var slotNanoseconds: Int64 { max(boundedNanoseconds, 1) }

    /// At most 126 years in either direction, so that differences of slots do not overflow.
    private var boundedNanoseconds: Int64 {
        let (seconds, attoseconds) = Swift.min(Swift.max(self, .seconds(-4_000_000_000)), .seconds(4_000_000_000))
            .components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
