import Testing

@testable import ErrandResilience

@Suite struct JitterSourceTests {
    @Test func numbersAreSharesAndSpread() {
        var source = JitterSource(seed: 1)
        let numbers = (0..<10_000).map { _ in source.next() }
        #expect(numbers.allSatisfy { $0 >= 0 && $0 < 1 })
        for tenth in 0..<10 {
            let count = numbers.count { Int($0 * 10) == tenth }
            #expect((850...1150).contains(count))
        }
        var same = JitterSource(seed: 1)
        #expect(numbers.prefix(5).map { _ in same.next() } == Array(numbers.prefix(5)))
        var first = JitterSource()
        var second = JitterSource()
        #expect((0..<4).map { _ in first.next() } != (0..<4).map { _ in second.next() })
    }
}
