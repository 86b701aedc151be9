import ErrandTesting
import Testing

@testable import ErrandModel
@testable import ErrandResilience

/// What the ends of requests say of their endpoint, beyond success and failure.
@Suite struct EndpointVoteTests {
    private typealias Machine = EndpointStateMachine
    private static let settings = EndpointPolicy.PeakEWMA()

    private func machine(_ names: String, _ policy: EndpointPolicy = EndpointPolicy()) throws -> Machine {
        Machine(policy, try names.map { try Endpoint("http://\($0)") })
    }

    /// A request to this endpoint; throws where the endpoint is not used.
    private func pick(_ machine: inout Machine, _ name: String, at now: Int) throws -> Machine.Pick {
        let others = Set(machine.members.map(\.endpoint.url).filter { $0 != "http://\(name):80" })
        return try machine.endpointRequested(
            key: nil, excluding: others, allowsRepeats: false, draw: .init(0, 0), now: .milliseconds(now)
        ).get()
    }

    /// One request to this endpoint, which ends after `span` milliseconds.
    private func run(
        _ machine: inout Machine, _ name: String, at now: Int, for span: Int = 0, _ outcome: Machine.Outcome
    ) throws {
        let pick = try pick(&machine, name, at: now)
        machine.requestEnded(pick, outcome, draw: .init(0, 0), now: .milliseconds(now + span))
    }

    private func load(_ machine: Machine, at now: Int) -> Double {
        machine.load(of: machine.members[0], Self.settings, .milliseconds(now))
    }

    // MARK: Responses that ask for fewer requests

    @Test func aFastRefusalIsSlow() throws {
        // Status, Retry-After and the latency that counts, in seconds; the response came after 1 ms.
        let cases: [(status: Int, retryAfter: Int?, latency: Double)] = [
            (200, nil, 0.001), (404, 20, 0.001), (429, nil, 5), (429, 2, 5), (429, 20, 20), (429, 3600, 60),
            (500, nil, 1), (503, 0, 1), (503, 2, 5), (503, 20, 20), (503, 3600, 60),
        ]
        for (status, retryAfter, latency) in cases {
            var machine = try machine("a")
            let outcome = Machine.Outcome(
                status: status, retryAfter: retryAfter.map { .seconds($0) }, latency: .milliseconds(1))
            try run(&machine, "a", at: 0, outcome)
            #expect(abs(load(machine, at: 0) - latency) < 1e-9, "\(status) \(retryAfter ?? -1)")
            #expect(machine.counts.throttled == (status == 429 ? 1 : 0))
            #expect(machine.members[0].health == .healthy(failuresInRow: status < 500 ? 0 : 1))
        }
    }

    /// The penalties have a floor and a cap of their own.
    @Test func penaltiesAreSettings() throws {
        let settings = EndpointPolicy.PeakEWMA(
            failurePenalty: .seconds(9), throttlePenalty: .seconds(2), longestRetryAfter: .zero)
        for (status, latency) in [(429, 2.0), (503, 9.0)] {
            var machine = try machine("a", EndpointPolicy(.powerOfTwo(settings)))
            try run(&machine, "a", at: 0, .init(status: status, retryAfter: .seconds(20), latency: .zero))
            #expect(abs(machine.load(of: machine.members[0], settings, .zero) - latency) < 1e-9)
        }
    }

    // MARK: Losers of hedges

    /// The age of a loser is less than its latency would have been.
    @Test func aLoserRaisesTheLatency() throws {
        var machine = try machine("a")
        // The assumed latency is 30 ms.
        try run(&machine, "a", at: 0, .lost(.milliseconds(20), isLate: false))
        #expect(abs(load(machine, at: 0) - 0.03) < 1e-9)
        try run(&machine, "a", at: 0, .lost(.milliseconds(150), isLate: true))
        #expect(abs(load(machine, at: 0) - 0.15) < 1e-9)
        // A lower one changes nothing, until the average has decayed below it.
        try run(&machine, "a", at: 0, .lost(.milliseconds(100), isLate: true))
        #expect(abs(load(machine, at: 0) - 0.15) < 1e-9)
        try run(&machine, "a", at: 10_000, .lost(.milliseconds(50), isLate: true))
        #expect(abs(load(machine, at: 10_000) - 0.15 * 0.367879) < 1e-6)
        try run(&machine, "a", at: 10_000, .lost(.milliseconds(100), isLate: true))
        #expect(abs(load(machine, at: 10_000) - 0.1) < 1e-9)
        #expect(machine.counts.lost == 5 && machine.counts.ejections == 0)
    }

    /// Late losers of an endpoint without any answer are failures from the stall time on.
    @Test func aStalledEndpointIsEjected() throws {
        var machine = try machine("ab", EndpointPolicy(.roundRobin))
        let late = Machine.Outcome.lost(.milliseconds(150), isLate: true)
        // The first begins at 0, so those that end at 1050, 1350, 1650 and 1950 are failures.
        for index in 0..<7 { try run(&machine, "a", at: index * 300, for: 150, late) }
        #expect(machine.members[0].health == .healthy(failuresInRow: 4))
        try run(&machine, "a", at: 2100, for: 150, late)
        #expect(machine.members[0].health == .ejected(until: .milliseconds(32_250)))
        // The probe is overtaken as well: the endpoint has still answered nothing.
        try run(&machine, "a", at: 32_250, for: 150, late)
        #expect(machine.members[0].health == .ejected(until: .milliseconds(92_400)))
        // An answer ends the silence.
        try run(&machine, "a", at: 92_400, for: 150, .success(.milliseconds(150)))
        #expect(machine.members[0].health == .healthy(failuresInRow: 0))
        try run(&machine, "a", at: 93_000, for: 150, late)
        #expect(machine.members[0].health == .healthy(failuresInRow: 0) && machine.counts.ejections == 2)
        #expect(machine.counts.lost == 10)
    }

    /// A hedge that was sent just before the answer of the first attempt says nothing of the endpoint's health.
    @Test func youngLosersAreNoFailures() throws {
        var machine = try machine("ab", EndpointPolicy(.roundRobin))
        for index in 0..<50 {
            try run(&machine, "a", at: index * 300, .lost(.milliseconds(2), isLate: false))
            try run(&machine, "b", at: index * 300, for: 150, .dropped)
        }
        #expect(machine.members.map(\.health) == [.healthy(failuresInRow: 0), .healthy(failuresInRow: 0)])
    }

    /// Callers that cancel, or have no time left, say how long they have waited at least, and nothing of the health.
    @Test func anAbandonedRequestRaisesTheLatency() throws {
        var machine = try machine("ab")
        try run(&machine, "a", at: 0, .abandoned(.milliseconds(20)))
        #expect(abs(load(machine, at: 0) - 0.03) < 1e-9)
        for _ in 0..<20 { try run(&machine, "a", at: 0, .abandoned(.seconds(1))) }
        try run(&machine, "a", at: 0, .abandoned(.milliseconds(100)))
        #expect(abs(load(machine, at: 0) - 1) < 1e-9)
        #expect(machine.members[0].health == .healthy(failuresInRow: 0))
        #expect(machine.counts.lost == 0 && machine.counts.ejections == 0)
        // A probe makes room for another one.
        for _ in 0..<5 { try run(&machine, "a", at: 0, .failure(.zero)) }
        #expect(machine.members[0].health == .ejected(until: .seconds(30)))
        try run(&machine, "a", at: 30_000, for: 100, .abandoned(.milliseconds(100)))
        #expect(machine.members[0].health == .returning)
    }

    /// A probe that is overtaken before the stall time makes room for another one.
    @Test func aProbeThatLoses() throws {
        var machine = try machine("ab", EndpointPolicy(.roundRobin))
        for _ in 0..<5 { try run(&machine, "a", at: 0, .failure(.zero)) }
        #expect(machine.members[0].health == .ejected(until: .seconds(30)))
        let late = Machine.Outcome.lost(.milliseconds(100), isLate: true)
        try run(&machine, "a", at: 30_000, for: 100, late)
        #expect(machine.members[0].health == .returning)
        try run(&machine, "a", at: 31_000, for: 100, late)
        #expect(machine.members[0].health == .ejected(until: .milliseconds(91_100)))
    }
}
