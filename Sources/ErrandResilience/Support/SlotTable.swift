/// Values by number, without hashing: a number contains the place of its value, and how often that place was used
/// before. The number of a value that was removed finds nothing.
struct SlotTable<Value> {
    fileprivate struct Slot {
        var generation: UInt32 = 0
        var value: Value?
    }

    /// The bits of a number that name the place: 2^32 values at most.
    private static var placeBits: UInt64 { 32 }
    /// A generation has 30 bits, so that the two highest bits of a number are never set.
    private static var generationMask: UInt32 { (1 << 30) - 1 }

    private var slots: [Slot] = []
    private var free: [UInt32] = []

    /// The number of values.
    var count: Int { slots.count - free.count }

    /// The number of the next value that is added.
    var nextNumber: UInt64 {
        guard let place = free.last else { return UInt64(slots.count) }
        return Self.number(place, slots[Int(place)].generation)
    }

    /// Adds a value; its number is ``nextNumber``.
    mutating func add(_ value: Value) {
        if let place = free.popLast() {
            slots[Int(place)].value = value
        } else {
            slots.append(Slot(value: value))
        }
    }

    subscript(number: UInt64) -> Value? {
        guard let place = place(of: number) else { return nil }
        return slots[place].value
    }

    /// Removes the value, and returns it.
    mutating func remove(_ number: UInt64) -> Value? {
        guard let place = place(of: number), let value = slots[place].value.take() else { return nil }
        slots[place].generation = (slots[place].generation &+ 1) & Self.generationMask
        free.append(UInt32(place))
        return value
    }

    /// The values, in no order.
    var values: [Value] { slots.compactMap(\.value) }

    private func place(of number: UInt64) -> Int? {
        let place = Int(number & ((1 << Self.placeBits) - 1))
        guard place < slots.count, UInt64(slots[place].generation) == number >> Self.placeBits else { return nil }
        return place
    }

    private static func number(_ place: UInt32, _ generation: UInt32) -> UInt64 {
        UInt64(generation) << placeBits | UInt64(place)
    }
}

extension SlotTable: Sendable where Value: Sendable {}
extension SlotTable.Slot: Sendable where Value: Sendable {}
