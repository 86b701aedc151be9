import ErrandTesting
import Testing

@testable import ErrandResilience

@Suite struct PermitTimesTests {
    @Test func none() {
        var subject = PermitTimes()
        subject.remove(.zero)
        subject.removeAll(through: .seconds(1))
        #expect(subject.first == nil && subject.count == 0)
    }

    /// The list is that of a sorted array.
    @Test(arguments: 0..<10)
    func randomWalks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var subject = PermitTimes()
        var times: [Int] = []
        var now = 0
        for _ in 0..<2000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4:
                let time = now + Int.random(in: 1...50, using: &random)
                subject.add(.milliseconds(time))
                times = (times + [time]).sorted()
            case 4..<6:
                // Some are unknown.
                let time = now + Int.random(in: 0...50, using: &random)
                subject.remove(.milliseconds(time))
                if let index = times.firstIndex(of: time) { times.remove(at: index) }
            default:
                now += Int.random(in: 0...20, using: &random)
                subject.removeAll(through: .milliseconds(now))
                times.removeAll { $0 <= now }
            }
            #expect(subject.count == times.count && subject.first == times.first.map { Duration.milliseconds($0) })
        }
    }
}
