import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandResilience

@Suite struct RateLimitTests {
    private static let settings = RateLimit.Settings(rate: .init(10, per: .seconds(1)), longestWait: .seconds(5))

    private func waiter(_ limit: RateLimit, atMost wait: Duration? = nil) async throws -> Task<Void, any Error> {
        let before = limit.counts.granted
        let task = Task { try await limit.wait("k", atMost: wait) }
        try await waitUntil("a request has permits") { limit.counts.granted > before }
        return task
    }

    @Test func waitingForPermits() async throws {
        let clock = ManualClock()
        let limit = RateLimit(Self.settings, clock: clock)
        try await limit.wait("k")
        let first = try await waiter(limit)
        let second = try await waiter(limit)
        await clock.sleepers(2)
        clock.advance(by: .milliseconds(100))
        try await first.value
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(100))
        try await second.value
        #expect(limit.available("k") == 0)
        #expect(limit.counts.delayed == 2)
    }

    @Test func refusals() async throws {
        let limit = RateLimit(Self.settings, clock: ManualClock())
        for _ in 0..<51 { _ = try limit.reserve("k") }
        let refusal = LimitRefusal(.rateExceeded, key: "k", retryAfter: .milliseconds(5100))
        #expect(throws: refusal) { try limit.reserve("k") }
        #expect(throws: refusal) { try limit.reserve("k", waitingAtMost: .seconds(Int64.max)) }
        await #expect(throws: refusal) { try await limit.wait("k") }
        #expect("\(refusal)" == "rateExceeded for k, retry after 5.1 seconds")
    }

    @Test func aCancelledWait() async throws {
        let clock = ManualClock()
        let limit = RateLimit(Self.settings, clock: clock)
        _ = try limit.reserve("k")
        let task = try await waiter(limit)
        await clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // The permit came back.
        #expect(try limit.reserve("k").delay == .milliseconds(100))
        #expect(limit.counts.cancelled == 1)
        let reservation = try limit.reserve("k")
        #expect(reservation.delay == .milliseconds(200))
        // Only once, whatever is cancelled again.
        for _ in 0..<3 { limit.cancel(reservation) }
        #expect(try limit.reserve("k").delay == .milliseconds(200))
        #expect(limit.counts.cancelled == 2)
    }

    @Test func aPauseThatBeginsMeanwhile() async throws {
        let clock = ManualClock()
        let limit = RateLimit(Self.settings, clock: clock)
        _ = try limit.reserve("k")
        let patient = try await waiter(limit)
        let other = try await waiter(limit, atMost: .seconds(1))
        await clock.sleepers(2)
        limit.pause("k", for: .seconds(2))
        clock.advance(by: .milliseconds(200))
        // The other may not wait so long.
        await #expect(throws: LimitRefusal.self) { try await other.value }
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(1799))
        #expect(limit.counts.refused == 1)
        clock.advance(by: .milliseconds(1))
        try await patient.value
        #expect(limit.available("k") == 0)
    }

    /// A short pause costs those that wait its time, and not another turn.
    @Test func aShortPauseKeepsTheOrder() async throws {
        let clock = ManualClock()
        let limit = RateLimit(.init(rate: .init(1, per: .seconds(1)), longestWait: .seconds(6)), clock: clock)
        try await limit.wait("k")
        let order = Notes<Int>()
        var tasks: [Task<Void, any Error>] = []
        for number in 1...5 {
            tasks.append(
                Task {
                    try await limit.wait("k")
                    order.add(number)
                })
            try await waitUntil("request \(number) has a permit") { limit.counts.granted == number + 1 }
        }
        await clock.sleepers(5)
        limit.pause("k", for: .seconds(2))
        clock.advance(by: .seconds(1))
        for (index, task) in tasks.enumerated() {
            // Those whose former time has come wait again.
            await clock.sleepers(5 - index)
            #expect(order.all == Array(1..<index + 1))
            clock.advance(by: .seconds(1))
            try await task.value
        }
        #expect(order.all == [1, 2, 3, 4, 5])
        #expect(limit.counts.granted == 6 && limit.counts.refused == 0)
    }

    @Test func serversAreObeyed() throws {
        let limit = RateLimit(.init(rate: nil), clock: ManualClock())
        var fields = HTTPFields()
        fields[.retryAfter] = "7"
        limit.serverAnswered("k", ServerRateLimit(fields, status: 429, date: 0))
        #expect(try limit.reserve("k").delay == .seconds(7))
        #expect(throws: LimitRefusal(.pausedByServer, key: "k", retryAfter: .seconds(7))) {
            try limit.reserve("k", waitingAtMost: .seconds(6))
        }
        #expect(try limit.reserve("other").delay == .zero)
        limit.resume("k")
        #expect(try limit.reserve("k").delay == .zero)
    }
}
