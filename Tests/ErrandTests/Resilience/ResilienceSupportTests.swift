import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandResilience

@Suite struct SlotTableTests {
    @Test func numbersOfRemovedValuesFindNothing() {
        var table = SlotTable<String>()
        let first = table.nextNumber
        table.add("a")
        let second = table.nextNumber
        table.add("b")
        #expect(table[first] == "a" && table[second] == "b" && table.count == 2)
        #expect(table.remove(first) == "a" && table.remove(first) == nil && table[first] == nil)
        let third = table.nextNumber
        table.add("c")
        #expect(third != first && table[third] == "c" && table[first] == nil && table.count == 2)
        #expect(table[.max] == nil && table[1 << 40] == nil)
    }

    /// Against a dictionary.
    @Test func walk() {
        var random = SeededGenerator(seed: 7)
        var table = SlotTable<Int>()
        var model: [UInt64: Int] = [:]
        var old: [UInt64] = []
        for step in 0..<20_000 {
            if Bool.random(using: &random) || model.isEmpty {
                let number = table.nextNumber
                table.add(step)
                #expect(model.updateValue(step, forKey: number) == nil && number < 1 << 62)
            } else if let number = model.keys.randomElement(using: &random) {
                #expect(table.remove(number) == model.removeValue(forKey: number))
                old.append(number)
            }
            if let number = old.randomElement(using: &random) { #expect(table[number] == nil) }
            #expect(table.count == model.count)
        }
        #expect(Set(table.values) == Set(model.values))
    }
}

@Suite struct TimerQueueTests {
    @Test func itemsFireInTheOrderOfTheirTimes() async throws {
        let clock = ManualClock()
        let fired = Notes<Int>()
        let queue = TimerQueue<Int>(Stopwatch(clock)) { fired.add($0) }
        for (item, due) in [(2, 20), (3, 30), (1, 10), (4, 20)] { queue.add(item, at: .milliseconds(due)) }
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(20))
        try await waitUntil("three have fired") { fired.all == [1, 2, 4] }
        await clock.sleepers(1)
        // An earlier time replaces the sleep.
        queue.add(5, at: .milliseconds(25))
        try await waitUntil("the earlier one has fired") {
            clock.advance(by: .milliseconds(1))
            return fired.all.count >= 4
        }
        #expect(fired.all.prefix(4) == [1, 2, 4, 5])
        try await waitUntil("all have fired") {
            clock.advance(by: .milliseconds(10))
            return fired.all == [1, 2, 4, 5, 3]
        }
        // A time that has passed fires at once.
        queue.add(6, at: .zero)
        try await waitUntil("the late one has fired") { fired.all.last == 6 }
    }

    /// What is not wanted any more neither fires nor wakes the queue.
    @Test func unwantedItemsAreDropped() async throws {
        let clock = ManualClock()
        let fired = Notes<Int>()
        let unwanted = Mutex<Set<Int>>([])
        let queue = TimerQueue<Int>(
            Stopwatch(clock), isWanted: { item in !unwanted.withLock { $0.contains(item) } }, fire: { fired.add($0) })
        for (item, due) in [(1, 1000), (2, 1100), (3, 5000)] { queue.add(item, at: .milliseconds(due)) }
        unwanted.withLock { $0 = [1, 2] }
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        try await waitUntil("both are dropped") { queue.count == 1 }
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(3999))
        await allowTime(for: "an early third item")
        #expect(fired.all.isEmpty)
        clock.advance(by: .milliseconds(1))
        try await waitUntil("the third has fired") { fired.all == [3] }
    }

    /// The task that sleeps does not keep the queue.
    @Test func aReleasedQueueIsGone() async {
        let clock = ManualClock()
        var queue: TimerQueue<Int>? = TimerQueue(Stopwatch(clock)) { _ in }
        queue?.add(1, at: .seconds(1))
        await clock.sleepers(1)
        weak let released = queue
        queue = nil
        #expect(released == nil)
    }
}

@Suite struct KeyedPartsCacheTests {
    private static func parts(_ key: String) -> KeyedParts {
        KeyedParts(key: key, budget: nil, breaker: nil, concurrency: nil, rate: nil)
    }
    private let transport = ResilientTransport(StubTransport(), Resilience(), stopwatch: Stopwatch(ManualClock()))

    /// A request whose URL no builder has checked.
    private static func request(_ url: String) throws -> RequestDescription {
        var request = try ResilientFixture.description()
        request.url = url
        return request
    }

    @Test func urlsOfOneOriginShareTheirParts() throws {
        var cache = KeyedPartsCache()
        _ = cache.store(Self.parts("one"), of: "https://a.test/path", now: .zero, transport)
        for url in ["https://a.test/path", "https://a.test/", "https://a.test", "https://a.test?x=/"] {
            let found = cache.attempts(of: try Self.request(url), now: .zero)
            #expect(found?.parts.key == "one", "\(url)")
        }
        for url in [
            "http://a.test/", "https://a.test:80/", "https://a.tes", "https://b@a.test/", "https://a.testing/", "x", "",
        ] {
            let found = cache.attempts(of: try Self.request(url), now: .zero)
            #expect(found == nil, "\(url)")
        }
        let expired = cache.attempts(of: try Self.request("https://a.test/"), now: .seconds(1))
        #expect(expired == nil)
    }

    /// Short hosts, and none, are no trap.
    @Test func oddURLs() throws {
        var cache = KeyedPartsCache()
        for (number, url) in ["http://a", "http://a/", "http:///", "https://", "http://[::1]:80/", "group:", ""]
            .enumerated()
        {
            _ = cache.store(Self.parts("\(number)"), of: url, now: .zero, transport)
            let found = cache.attempts(of: try Self.request(url), now: .zero)
            #expect(found == nil || found?.parts.key == "\(number)", "\(url)")
        }
    }
}

/// Messages have no more than milliseconds, which are rounded up: a caller who waits that long does not come too early.
@Suite struct SecondsTextTests {
    @Test(
        arguments: [
            (0, "0.0"), (1, "0.001"), (400_000, "0.001"), (1_000_000, "0.001"), (1_000_001, "0.002"),
            (4_723_073_141, "4.724"), (4_999_999_999, "5.0"), (5_000_000_000, "5.0"), (300_123_000_000, "300.123"),
        ])
    func isRoundedUp(nanoseconds: Int, seconds: String) {
        let time = Duration.nanoseconds(nanoseconds)
        #expect(time.secondsText == "\(seconds) seconds")
        let breaker = ErrandError(BreakerRefusal(state: .open, retryAfter: time), of: "http://a:80")
        #expect(breaker.message.hasSuffix("is open; the next request may pass after \(seconds) seconds"))
        let limit = ErrandError(LimitRefusal(.rateExceeded, key: "k", retryAfter: time))
        #expect(limit.message.hasSuffix("retry after \(seconds) seconds"))
        #expect(breaker.retryAfter == time && limit.retryAfter == time)
    }
}
