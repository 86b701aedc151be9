import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// Every combination of the parts, with cancellations, pauses, streams, refusals and shutdowns at random times: each
/// accepted transfer ends once, and nothing is left.
@Suite struct ResilientWalkTests {
    private static let steps = 300
    private static let walks: [Int] = Array(0..<256)
    private static let transfers = Atomic<Int>(0)
    private static let finished = Atomic<Int>(0)

    /// The bits of a number choose the parts and the queues.
    private static func settings(_ bits: Int) -> Resilience {
        Resilience(
            retry: bits & 1 != 0 ? RetryPolicy(maxAttempts: 4, attemptTimeout: .seconds(20)) : nil,
            budget: bits & 32 != 0 ? nil : RetryBudget.Policy(ratio: 0.5),
            hedge: bits & 64 != 0
                ? HedgePolicy(
                    delay: .fixed(.milliseconds(300)), maxExtra: 2, budget: .init(ratio: 1, floorPerSecond: 5)) : nil,
            breaker: bits & 2 != 0 ? BreakerPolicy(window: .count(20), failureRate: 0.6, openTime: .seconds(1)) : nil,
            concurrency: bits & 4 != 0 ? .init(limit: 3, queueCapacity: 5, longestWait: .seconds(10)) : nil,
            rate: bits & 8 != 0 ? .init(rate: .init(20, per: .seconds(1)), burst: 3, longestWait: .seconds(5)) : nil)
    }

    private static let endpoints: [ServiceEndpoints] = {
        let list = (1...3).compactMap { try? Endpoint("http://server\($0)/") }
        let policy = EndpointPolicy(outliers: .init(consecutiveFailures: 2, baseEjection: .seconds(1)))
        return (try? ServiceEndpoints(of: "http://a/", .list(list), policy: policy)).map { [$0] } ?? []
    }()

    private static let ownLimit = ConcurrencyLimit.Settings(limit: 2, queueCapacity: 3, longestWait: .seconds(10))
    /// A command with a breaker and limits of its own.
    private static let own = RequestResilience(
        breaker: BreakerPolicy(window: .count(10), minimumCalls: 4, openTime: .seconds(1)), concurrency: ownLimit,
        rate: .init(rate: .init(10, per: .seconds(1)), burst: 2, longestWait: .seconds(5)))

    private final class Walk: Sendable {
        let fixture: ResilientFixture
        let open = Mutex<[(CallReceiver, TransferID)]>([])
        let all = Notes<CallReceiver>()
        let streams = Notes<CallReceiver>()
        let serial: CallbackQueue?

        init(_ number: Int) {
            let answers = Mutex(SeededGenerator(seed: UInt64(number) &* 7919))
            serial = number & 16 != 0 ? .serial() : nil
            fixture = ResilientFixture(
                settings(number), endpoints: number & 128 != 0 ? ResilientWalkTests.endpoints : [],
                delivery: number % 3 == 0 ? .immediate : .asynchronous
            ) { _ in
                answers.withLock { random in
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0: .refuse(.queueFull)
                    case 1: .response(status: 503)
                    case 2: .failure(.connectFailed)
                    case 3: .response(status: 200)
                    default: .hold
                    }
                }
            }
        }

        func submit(_ random: inout SeededGenerator) throws {
            var description = try ResilientFixture.description(
                Bool.random(using: &random) ? .get : .post,
                total: Bool.random(using: &random) ? .seconds(Int.random(in: 1...30, using: &random)) : nil)
            if Bool.random(using: &random) { description.delivery = .streamed }
            if Bool.random(using: &random) { description.reports = [.events, .progress] }
            if Int.random(in: 0..<4, using: &random) == 0 { description.body = .stream(length: nil) }
            let receiver = CallReceiver(callbacks: serial ?? .inline())
            if case .streamed = description.delivery { streams.add(receiver) }
            if Int.random(in: 0..<6, using: &random) == 0 {
                let choices: [RequestResilience] = [
                    .off, RequestResilience(hedge: .never, name: "other"), ResilientWalkTests.own,
                ]
                description.resilience = choices.randomElement(using: &random)
            }
            if let id = try? fixture.outer.submit(description, for: receiver) {
                all.add(receiver)
                open.withLock { $0.append((receiver, id)) }
            } else {
                // A refused submission yields no event.
                #expect(receiver.events.all.isEmpty)
            }
        }

        /// One step: a submission, an order of a caller, an event of an attempt, or time.
        func step(_ random: inout SeededGenerator) throws {
            let id = open.withLock { $0.randomElement(using: &random)?.1 }
            let attempt = fixture.stub.open.randomElement(using: &random)
            switch Int.random(in: 0..<14, using: &random) {
            case 0..<4: try submit(&random)
            case 4: if let id { fixture.outer.cancel(id) }
            case 5: if let id { fixture.outer.pause(id) }
            case 6: if let id { fixture.outer.resume(id) }
            case 7:
                if let id {
                    [UInt8]([1]).withUnsafeBytes { fixture.outer.write($0, to: id) }
                    fixture.outer.grant(id, bytes: 1)
                }
            case 8: fixture.clock.advance(by: .milliseconds(Int.random(in: 0...1500, using: &random)))
            case 9:
                if let attempt {
                    fixture.stub.send(.head(Response(statusCode: Bool.random(using: &random) ? 503 : 200)), to: attempt)
                }
            case 10: if let attempt { fixture.stub.send(.chunk(Response(statusCode: 200, body: [1])), to: attempt) }
            case 11: if let attempt { fixture.stub.complete(attempt, with: .failure(.connectionLost)) }
            case 12: if let attempt { fixture.stub.complete(attempt, with: .response(Response(statusCode: 503))) }
            default: if let attempt { fixture.stub.complete(attempt, with: .response(Response(statusCode: 200))) }
            }
        }

        func settle() async throws {
            try await waitUntil("every transfer ended") {
                fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
                fixture.clock.advance(by: .milliseconds(500))
                return fixture.transport.count == 0 && fixture.outer.count == 0
            }
            let limit = fixture.transport.parts.concurrencyLimit(with: ResilientWalkTests.ownLimit)
            try await waitUntil("nothing is left") {
                fixture.isEmpty() && limit.inFlight(of: "http://a:80") == 0 && limit.waiting(of: "http://a:80") == 0
            }
        }
    }

    @Test(arguments: walks)
    func everyTransferEndsOnce(number: Int) async throws {
        let walk = Walk(number)
        // Some walks have several threads.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<(number % 2 == 0 ? 1 : 3) {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(number * 10 + thread))
                    for _ in 0..<Self.steps {
                        try walk.step(&random)
                        if Int.random(in: 0..<8, using: &random) == 0 { await Task.yield() }
                    }
                }
            }
            try await group.waitForAll()
        }
        if number % 3 == 1 {
            let receivers = walk.all.all
            await withCheckedContinuation { done in walk.fixture.outer.shutdown { done.resume() } }
            // The last event was handed to the queue of its receiver before.
            await withCheckedContinuation { done in
                if let serial = walk.serial { serial.async { done.resume() } } else { done.resume() }
            }
            for receiver in receivers { #expect(receiver.results.all.count == 1) }
        }
        try await walk.settle()
        let receivers = walk.all.all
        try await waitUntil("every end was received") { receivers.allSatisfy { !$0.results.all.isEmpty } }
        for receiver in receivers {
            #expect(receiver.results.all.count == 1)
            let events = receiver.events.all
            // The end is the last event. Of a stream one head is seen at most.
            #expect(!walk.streams.all.contains { $0 === receiver } || events.count { $0.hasPrefix("head") } <= 1)
            #expect(Int(events.last ?? "") != nil || receiver.error?.shortDescription == events.last)
        }
        let sum = Self.transfers.add(receivers.count, ordering: .relaxed).newValue
        if Self.finished.add(1, ordering: .relaxed).newValue == Self.walks.count {
            print("ResilientWalkTests: \(sum) transfers in \(Self.walks.count) walks")
        }
    }
}
