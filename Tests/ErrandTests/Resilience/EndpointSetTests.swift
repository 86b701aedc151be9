import Errand
import ErrandTesting
import Testing

@testable import ErrandModel
@testable import ErrandResilience

@Suite struct EndpointSetTests {
    private func set(_ clock: ManualClock, _ policy: EndpointPolicy = EndpointPolicy(.roundRobin)) throws -> EndpointSet
    {
        EndpointSet([try Endpoint("http://a"), try Endpoint("http://b")], policy: policy, clock: clock, random: { 0 })
    }

    @Test func aLeaseComesBackOnce() throws {
        let set = try set(ManualClock())
        let lease = try set.pick()
        #expect(lease.endpoint.url == "http://a:80" && !lease.isProbe && !lease.isRepeated)
        #expect(set.statuses.map(\.pending) == [1, 0])
        lease.fail()
        lease.fail()
        lease.succeed()
        lease.drop()
        #expect(set.statuses.map(\.pending) == [0, 0])
        do {
            let forgotten = try set.pick()
            #expect(set.statuses.map(\.pending) == [0, 1])
            withExtendedLifetime(forgotten) {}
        }
        #expect(set.statuses.map(\.pending) == [0, 0])
    }

    /// A stream votes once, by its head, and is pending until its end.
    @Test func aStreamVotesByItsHead() throws {
        let set = try set(ManualClock(), EndpointPolicy(.roundRobin, outliers: .init(consecutiveFailures: 1)))
        let first = try set.pick()
        first.vote(status: 503)
        #expect(set.statuses.map(\.health) == [.ejected, .healthy])
        #expect(set.statuses.map(\.pending) == [1, 0])
        first.vote(status: 503)
        first.succeed()
        #expect(set.statuses.map(\.health) == [.ejected, .healthy])
        #expect(set.statuses.map(\.pending) == [0, 0])
        let second = try set.pick()
        second.vote(status: 200)
        second.fail()
        second.vote(status: 503)
        #expect(set.statuses.map(\.health) == [.ejected, .healthy])
        #expect(set.statuses.map(\.pending) == [0, 0])
        #expect(set.counts.ejections == 1 && set.counts.sparedEjections == 0)
    }

    @Test func anEndpointIsEjectedAndReturns() throws {
        let clock = ManualClock()
        let set = try set(clock)
        for _ in 0..<5 { try set.pick(excluding: ["http://b:80"]).fail() }
        #expect(set.statuses.map(\.health) == [.ejected, .healthy])
        #expect(set.statuses.map(\.ejections) == [1, 0])
        #expect(try set.pick().endpoint.url == "http://b:80")
        clock.advance(by: .seconds(30))
        #expect(set.statuses.map(\.health) == [.probing, .healthy])
        let probe = try set.pick(excluding: ["http://b:80"])
        #expect(probe.isProbe)
        probe.succeed()
        #expect(set.statuses.map(\.health) == [.healthy, .healthy])
        set.replace([])
        #expect(throws: EndpointRefusal(.noEndpoints)) { try set.pick() }
        #expect(set.counts.ejections == 1 && set.counts.returns == 1 && set.counts.refused == 1)
    }

    /// The latency is measured by the clock.
    @Test func theFasterOneIsChosen() throws {
        let clock = ManualClock()
        let set = try set(clock, EndpointPolicy())
        for (tried, span) in [("http://b:80", 200), ("http://a:80", 100)] {
            let lease = try set.pick(excluding: [tried])
            clock.advance(by: .milliseconds(span))
            lease.succeed()
        }
        for _ in 0..<3 {
            let lease = try set.pick()
            #expect(lease.endpoint.url == "http://b:80")
            lease.drop()
        }
    }

    @Test func manyThreads() async throws {
        let endpoints = try (0..<5).map { try Endpoint("http://e\($0)") }
        let set = EndpointSet(endpoints)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    for step in 0..<20 {
                        guard let lease = try? set.pick() else { continue }
                        switch (index + step) % 3 {
                        case 0: lease.fail()
                        case 1: lease.succeed()
                        default: lease.drop()
                        }
                    }
                }
            }
        }
        #expect(set.statuses.allSatisfy { $0.pending == 0 })
        #expect(set.counts.picks == 4000)
    }
}
