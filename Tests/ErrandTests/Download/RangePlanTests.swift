import Errand
import ErrandTesting
import Testing

@testable import ErrandDownloads

@Suite struct RangePlanTests {
    @Test func setsMerge() {
        var set = ByteRangeSet([10..<20, 30..<40])
        #expect(set.prefixEnd == 0 && set.end == 40 && set.count == 20)
        set.insert(20..<30)
        #expect(set.ranges == [10..<40])
        set.insert(0..<5)
        set.insert(3..<3)
        set.insert(-5 ..< -1)
        #expect(set.ranges == [0..<5, 10..<40] && set.prefixEnd == 5)
        #expect(set.gaps(below: 50).ranges == [5..<10, 40..<50] && set.gaps(below: 8).ranges == [5..<8])
        #expect(set.gaps(below: 0).isEmpty && set.clipped(to: 12).ranges == [0..<5, 10..<12])
        #expect(set.clipped(to: -1).isEmpty && ByteRangeSet().gaps(below: 3).ranges == [0..<3])
        set.insert(0..<Int64.max)
        #expect(set.ranges == [0..<Int64.max])
    }

    /// Against one flag a byte.
    @Test(arguments: 1...8 as ClosedRange<UInt64>) func setsAgreeWithFlags(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var (set, flags) = (ByteRangeSet(), [Bool](repeating: false, count: 64))
            for _ in 0..<12 {
                let start = Int.random(in: 0..<64, using: &random)
                let end = Int.random(in: start...64, using: &random)
                set.insert(Int64(start)..<Int64(end))
                for index in start..<end { flags[index] = true }
                let flat = set.ranges.flatMap(Array.init)
                #expect(flat == flags.indices.filter { flags[$0] }.map(Int64.init))
                #expect(zip(set.ranges, set.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
                let gaps = set.gaps(below: 50).ranges.flatMap(Array.init)
                #expect(gaps == flags[..<50].indices.filter { !flags[$0] }.map(Int64.init))
                #expect(set.prefixEnd == Int64(flags.prefix { $0 }.count) && set.count == Int64(flat.count))
            }
        }
    }

    @Test func sharesEvenly() {
        var plan = RangePlan(missing: ByteRangeSet([0..<4000]), width: 4, smallest: 10)
        #expect(
            (0..<4).compactMap { _ in plan.assign(now: .zero)?.range } == [
                0..<1000, 1000..<2000, 2000..<3000, 3000..<4000,
            ])
        var small = RangePlan(missing: ByteRangeSet([0..<25]), width: 4, smallest: 10)
        #expect(small.assign(now: .zero)?.range == 0..<10)
        #expect(small.assign(now: .zero)?.range == 10..<25)
        #expect(small.assign(now: .zero) == nil)
        var nothing = RangePlan(missing: ByteRangeSet(), width: 4)
        #expect(nothing.isComplete && nothing.assign(now: .zero) == nil)
    }

    /// A server may say that the content has any length.
    @Test func sharesTheLargestLength() {
        for length in [Int64.max, Int64.max - 1] {
            var plan = RangePlan(missing: ByteRangeSet().gaps(below: length), width: 64)
            for _ in 0..<64 {
                let piece = plan.assign(now: .zero)
                #expect(piece != nil)
            }
            #expect(plan.missing.ranges == [0..<length])
        }
    }

    @Test func stealsFromTheSlowest() {
        var plan = RangePlan(missing: ByteRangeSet([0..<2000]), width: 2, smallest: 10)
        #expect(plan.assign(now: .zero) == .init(id: 1, range: 0..<1000))
        #expect(plan.assign(now: .zero) == .init(id: 2, range: 1000..<2000))
        // More is left of the second, but it is ten times as fast... and then is not.
        #expect(plan.received(1, count: 100) == .more(count: 100))
        #expect(plan.received(2, count: 800) == .more(count: 800))
        #expect(plan.assign(now: .seconds(1)) == .init(id: 3, range: 550..<1000))
        #expect(plan.position(1) == 100 && plan.position(2) == 1800 && plan.position(9) == nil)
        // What the first still brings beyond its new end is the third's.
        #expect(plan.received(1, count: 600) == .last(count: 450))
        #expect(plan.received(1, count: 600) == .none)
        #expect(plan.failed(2) == true)
        #expect(plan.failed(2) == false)
        #expect(plan.missing.ranges == [550..<1000, 1800..<2000])
        #expect(plan.assign(now: .seconds(2)) == .init(id: 4, range: 1800..<2000))
        #expect(plan.pieces.map(\.id) == [3, 4])
        #expect(plan.received(3, count: 0) == .more(count: 0))
        #expect(plan.received(3, count: -1) == .more(count: 0))
        #expect(plan.received(3, count: 450) == .last(count: 450))
        #expect(plan.received(4, count: 200) == .last(count: 200))
        #expect(plan.isComplete)
    }

    /// Each byte is written once, by one piece, whoever breaks, steals or goes on too long.
    @Test(arguments: 1...12 as ClosedRange<UInt64>) func walks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let length = Int64.random(in: 0...5000, using: &random)
            var have = ByteRangeSet()
            for _ in 0..<3 {
                let start = Int64.random(in: 0...length, using: &random)
                have.insert(start..<Int64.random(in: start...length, using: &random))
            }
            let width = Int.random(in: 1...6, using: &random)
            var plan = RangePlan(missing: have.gaps(below: length), width: width, smallest: 50)
            var (workers, now, steps) = (Set<Int>(), Duration.zero, 0)
            while !plan.isComplete {
                steps += 1
                #expect(steps < 100_000)
                guard steps < 100_000 else { return }
                now += .milliseconds(Int.random(in: 0...50, using: &random))
                if workers.count < width, let piece = plan.assign(now: now) {
                    #expect(!piece.range.isEmpty && workers.insert(piece.id).inserted)
                }
                guard let worker = workers.randomElement(using: &random) else { continue }
                if random.next() % 20 == 0 {
                    #expect(plan.failed(worker) == true)
                    workers.remove(worker)
                    continue
                }
                guard let position = plan.position(worker) else {
                    Issue.record("a worker without a piece")
                    return
                }
                let receipt = plan.received(worker, count: Int64.random(in: 0...300, using: &random))
                let count: Int64
                switch receipt {
                case .more(let taken): count = taken
                case .last(let taken):
                    count = taken
                    workers.remove(worker)
                case .none:
                    Issue.record("bytes of nobody")
                    return
                }
                let before = have.count
                have.insert(position..<position + count)
                #expect(have.count == before + count)
                #expect(plan.missing == have.gaps(below: length))
            }
            #expect(have.count == length && workers.isEmpty)
        }
    }
}
