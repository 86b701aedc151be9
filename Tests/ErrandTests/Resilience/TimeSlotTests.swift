import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

@Suite struct TimeSlotTests {
    @Test(
        arguments: [
            (.zero, 0), (.milliseconds(999), 0), (.seconds(1), 1), (.nanoseconds(-1), -1), (.seconds(-1), -1),
            (.milliseconds(-1001), -2), (.seconds(Int64.max), 4_000_000_000), (.seconds(Int64.min), -4_000_000_000),
        ] as [(Duration, Int)])
    func slotsOfASecond(time: Duration, slot: Int) {
        #expect(time.slot(.seconds(1)) == slot)
    }

    /// A slot begins exactly at its border, however long the clock has run.
    @Test(arguments: 0..<5 as Range<UInt64>)
    func bordersAreExact(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let number = Int.random(in: -3_000_000_000...3_000_000_000, using: &random)
            let length = Duration.milliseconds(Int.random(in: 1...1000, using: &random))
            let border = length * number
            #expect(border.slot(length) == number)
            #expect((border - .nanoseconds(1)).slot(length) == number - 1)
            let times = Duration.times(ofSlot: number, length)
            #expect(times.lowerBound == border && times.upperBound == border + length)
        }
    }

    @Test func lengthsOutOfRangeDoNotTrap() {
        for length in [Duration.zero, .seconds(-1), .seconds(Int64.max), .nanoseconds(1)] {
            for time in [Duration.zero, .seconds(Int64.max), .seconds(Int64.min)] { _ = time.slot(length) }
        }
        #expect(Duration.seconds(9).slot(.seconds(Int64.max)) == 0)
    }
}
