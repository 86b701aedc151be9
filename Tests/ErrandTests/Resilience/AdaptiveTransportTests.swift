import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandResilience

/// An adaptive limit behind the transports of a client, together with a limit of the rate, on a manual clock.
@Suite struct AdaptiveTransportTests {
    /// More requests than the rate allows, to a server that answers each attempt after a time.
    private final class Load: Sendable {
        private struct State {
            var calls: [CallReceiver] = []
            /// When the server got its attempts.
            var arrivals: [TransferID: Duration] = [:]
        }

        private static let requests = 40
        let fixture: ResilientFixture
        private let state = Mutex(State())

        init(_ settings: Resilience) {
            fixture = ResilientFixture(settings)
        }

        var limit: Int { fixture.transport.parts.concurrency?.limit(of: "http://a:80") ?? 0 }

        /// 25 ms pass.
        func step(latency: Duration) throws {
            try state.withLock { state in
                let now = fixture.clock.now.offset
                for id in fixture.stub.open {
                    guard let arrival = state.arrivals[id] else {
                        state.arrivals[id] = now
                        continue
                    }
                    guard now - arrival >= latency else { continue }
                    state.arrivals[id] = nil
                    fixture.stub.complete(id, with: .response(Response(statusCode: 200)))
                }
                state.calls.removeAll { !$0.results.all.isEmpty }
                while state.calls.count < Self.requests {
                    let (receiver, _) = try fixture.submit()
                    state.calls.append(receiver)
                }
            }
            fixture.clock.advance(by: .milliseconds(25))
        }
    }

    /// The limit is 12, and eight attempts are at the server at a time: ten a second, for 800 ms each. The others hold
    /// their places and wait for the rate, so that 1.2 s pass from the permit to the response, which is above the timeout.
    @Test func theLimitFollowsTheServer() async throws {
        let adaptive = AdaptiveLimit.Settings(.aimd(.init(timeout: .seconds(1))), initial: 12, bounds: 2...40)
        let load = Load(
            Resilience(
                concurrency: .init(adaptive: adaptive, longestWait: nil),
                rate: .init(rate: .init(10, per: .seconds(1)))))
        try await waitUntil("the limit has grown at a healthy server") {
            try load.step(latency: .milliseconds(800))
            return load.limit >= 15
        }
        try await waitUntil("the limit has shrunk at a slow server") {
            try load.step(latency: .seconds(3))
            return load.limit <= 9
        }
        try await waitUntil("the limit has grown again") {
            try load.step(latency: .milliseconds(800))
            return load.limit >= 11
        }
        let fixture = load.fixture
        let rate = try #require(fixture.transport.parts.rate)
        #expect(rate.counts.delayed > 0 && fixture.transport.parts.counts.refusedByLimit == 0)
        try await waitUntil("nothing is left") {
            fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
            fixture.clock.advance(by: .milliseconds(100))
            return fixture.isEmpty()
        }
    }
}
