/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers for the same seed on every machine, so that the shares of a
/// plan draw the same arrivals.
package struct LoadRandom: Sendable, RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mixed(state)
    }

    /// Evenly distributed in 0..<1.
    package mutating func unit() -> Double { Self.unit(next()) }

    /// Exponentially distributed with the mean 1.
    package mutating func exponential() -> Double { -(1 - unit()).logarithm }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number that depends on nothing but the arguments: each instance of a plan draws the same one for the same
    /// arrival or iteration.
    package static func draw(_ seed: UInt64, _ first: UInt64, _ second: UInt64) -> UInt64 {
        mixed(mixed(mixed(seed &+ 0x9E37_79B9_7F4A_7C15) ^ first) &+ second &* 0x9E37_79B9_7F4A_7C15)
    }

    /// The upper 53 bits as a number in 0..<1.
    package static func unit(_ number: UInt64) -> Double { Double(number >> 11) * 0x1p-53 }
}
