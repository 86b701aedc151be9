import Errand
import ErrandTesting
import Testing

@testable import ErrandModel
@testable import ErrandResilience

@Suite struct EndpointStateMachineTests {
    private typealias Machine = EndpointStateMachine
    private static let turns = EndpointPolicy(.roundRobin)

    private func endpoints(_ names: String, zones: [String?] = []) throws -> [Endpoint] {
        try names.enumerated().map { index, name in
            try Endpoint("http://\(name)", zone: index < zones.count ? zones[index] : nil)
        }
    }

    private func pick(
        _ machine: inout Machine, at now: Int = 0, key: String? = nil, tried: String = "", repeats: Bool = true,
        _ first: Double = 0, _ second: Double = 0
    ) throws -> Machine.Pick {
        try machine.endpointRequested(
            key: key, excluding: Set(tried.map { "http://\($0):80" }), allowsRepeats: repeats,
            draw: .init(first, second), now: .milliseconds(now)
        ).get()
    }

    private func replace(_ machine: inout Machine, _ endpoints: [Endpoint]) {
        machine.endpointsReplaced(EndpointList(endpoints, machine.policy))
    }

    private func name(_ pick: Machine.Pick) -> String { String(pick.endpoint.url.dropFirst(7).prefix(1)) }

    /// Which endpoints `count` requests get that all succeed.
    private func names(
        _ machine: inout Machine, _ count: Int, at now: Int = 0, tried: String = "", fails: Set<String> = []
    ) throws -> String {
        var names = ""
        for _ in 0..<count {
            let pick = try pick(&machine, at: now, tried: tried)
            names += name(pick)
            let outcome: Machine.Outcome = fails.contains(name(pick)) ? .failure(.zero) : .success(.milliseconds(1))
            machine.requestEnded(pick, outcome, draw: .init(0, 0), now: .milliseconds(now))
        }
        return names
    }

    @Test func endpointsFromURLs() throws {
        #expect(try Endpoint("HTTPS://User@A.Test/path?x", weight: 5, zone: "z").url == "https://a.test:443")
        #expect(try Endpoint("http://[::1]:8080", weight: .min).weight == 1)
        #expect(try Endpoint("http://[::1]:8080", weight: .max).weight == 1000)
        for text in ["", "a.test", "/x", "http://", "http://u@", "http://:80", "http:///x"] {
            #expect(throws: ErrandError.invalidURL, "\(text)") { try Endpoint(text) }
        }
        #expect(throws: ErrandError.unsupportedScheme) { try Endpoint("ftp://a.test") }
    }

    @Test func inTurnsByWeight() throws {
        var machine = Machine(
            Self.turns,
            [
                try Endpoint("http://a", weight: 5), try Endpoint("http://b"), try Endpoint("http://c"),
            ])
        #expect(try names(&machine, 14) == "aabacaaaabacaa")
        #expect(machine.members.map(\.pending) == [0, 0, 0])
    }

    @Test func theLowerLoadOfTwo() throws {
        var machine = Machine(EndpointPolicy(.powerOfTwo(.init())), try endpoints("ab"))
        func end(_ pick: Machine.Pick, _ milliseconds: Int) {
            machine.requestEnded(pick, .success(.milliseconds(milliseconds)), draw: .init(0, 0), now: .zero)
        }
        // Both are assumed equal, the drawn one counts.
        let first = try pick(&machine, 0)
        #expect(name(first) == "a")
        // Now b has fewer pending requests, whatever is drawn.
        let second = try pick(&machine, 0)
        #expect(name(second) == "b")
        end(first, 10)
        end(second, 100)
        #expect(machine.counts.idlePicks == 1)
        for draw in [0, 0.6, 1] { #expect(name(try pick(&machine, draw, 0.5)) == "a") }
        // 10 x 4 pending is still less than 100; ten are not.
        for _ in 3..<9 { #expect(name(try pick(&machine, 0.9)) == "a") }
        #expect(name(try pick(&machine, 0.9)) == "b")
    }

    @Test func aPeakDecays() throws {
        let settings = EndpointPolicy.PeakEWMA(decay: .seconds(10), failurePenalty: .seconds(2))
        var machine = Machine(EndpointPolicy(.powerOfTwo(settings)), try endpoints("a"))
        func load(_ now: Int) -> Double { machine.load(of: machine.members[0], settings, .milliseconds(now)) }
        func sample(_ outcome: Machine.Outcome, _ now: Int) throws {
            let pick = try pick(&machine, at: now)
            machine.requestEnded(pick, outcome, draw: .init(0, 0), now: .milliseconds(now))
        }
        #expect(abs(load(0) - 0.03) < 1e-9)
        try sample(.success(.milliseconds(100)), 0)
        #expect(abs(load(0) - 0.1) < 1e-9)
        #expect(abs(load(10_000) - 0.1 * 0.367879) < 1e-6)
        // A lower sample by its weight, a higher one at once.
        try sample(.success(.milliseconds(10)), 10_000)
        #expect(abs(load(10_000) - (0.0367879 + 0.01 * 0.632121)) < 1e-6)
        try sample(.success(.seconds(1)), 10_000)
        #expect(abs(load(10_000) - 1) < 1e-9)
        // A fast failure is slow, and what was dropped is no sample.
        try sample(.failure(.milliseconds(1)), 10_000)
        #expect(abs(load(10_000) - 2) < 1e-9)
        try sample(.dropped, 10_000)
        #expect(abs(load(10_000) - 2) < 1e-9)
    }

    @Test func weightsOfPowerOfTwo() throws {
        var machine = Machine(
            EndpointPolicy(.powerOfTwo(.init())),
            [
                try Endpoint("http://a", weight: 3), try Endpoint("http://b"), try Endpoint("http://c"),
            ])
        var random = SeededGenerator(seed: 1)
        var counts: [String: Int] = [:]
        // A hundred requests are always pending, each for the same time.
        var open: [Machine.Pick] = []
        for _ in 0..<6000 {
            let picked = try pick(&machine, .random(in: 0..<1, using: &random), .random(in: 0..<1, using: &random))
            counts[name(picked), default: 0] += 1
            open.append(picked)
            if open.count > 100 {
                machine.requestEnded(
                    open.removeFirst(), .success(.milliseconds(10)), draw: .init(0, 0), now: .zero)
            }
        }
        #expect((3300...3900).contains(counts["a"] ?? 0), "\(counts)")
        #expect((1000...1400).contains(counts["b"] ?? 0), "\(counts)")
    }

    @Test func aKeyKeepsItsEndpoint() throws {
        var machine = Machine(EndpointPolicy(.ringHash(.init(loadBound: nil))), try endpoints("abcd"))
        let owners = try (0..<200).map { name(try pick(&machine, key: "\($0)")) }
        #expect(Set(owners).count == 4)
        #expect(try (0..<200).map { name(try pick(&machine, key: "\($0)")) } == owners)
        // Without a key at random.
        var random = SeededGenerator(seed: 3)
        let drawn = try (0..<100).map { _ in name(try pick(&machine, .random(in: 0..<1, using: &random))) }
        #expect(Set(drawn).count == 4)
        #expect(throws: Never.self) { try pick(&machine, 1) }
        // Where an owner is tried, the next of the ring.
        #expect(name(try pick(&machine, key: "0", tried: owners[0])) != owners[0])
    }

    /// One key for all: with a bound the others take a part.
    @Test func boundedLoads() throws {
        var machine = Machine(EndpointPolicy(.ringHash(.init(loadBound: 1.25))), try endpoints("abcd"))
        for _ in 0..<100 { _ = try pick(&machine, key: "same") }
        let pending = machine.members.map(\.pending)
        #expect(pending.reduce(0, +) == 100)
        #expect(pending.max() == 32 && pending.min() ?? 0 > 0, "\(pending)")
    }

    @Test func failuresInARow() throws {
        var machine = Machine(Self.turns, try endpoints("abcd"))
        #expect(try names(&machine, 17, fails: ["a"]) == "abcdabcdabcdabcda")
        #expect(machine.members[0].health == .ejected(until: .seconds(30)))
        #expect(try !names(&machine, 12, at: 29_999).contains("a"))
        // One request is the probe; the others go elsewhere until it has ended.
        let probe = try (0..<4).map { _ in try pick(&machine, at: 30_000) }.filter { name($0) == "a" }
        #expect(probe.map(\.isProbe) == [true])
        #expect(try !names(&machine, 9, at: 30_000).contains("a"))
        machine.requestEnded(try #require(probe.first), .failure(.zero), draw: .init(0, 0), now: .seconds(31))
        // For twice as long.
        #expect(machine.members[0].health == .ejected(until: .seconds(91)))
        let second = try (0..<4).map { _ in try pick(&machine, at: 91_000) }.first { name($0) == "a" }
        machine.requestEnded(try #require(second), .success(.zero), draw: .init(0, 0), now: .seconds(91))
        #expect(machine.members[0].health == .healthy(failuresInRow: 0))
        #expect(machine.counts.ejections == 2 && machine.counts.returns == 1)
        #expect(try names(&machine, 8, at: 91_000).contains("a"))
    }

    @Test func aSuccessEndsTheRow() throws {
        var machine = Machine(Self.turns, try endpoints("ab"))
        for _ in 0..<5 {
            _ = try names(&machine, 8, fails: ["a"])
            _ = try names(&machine, 2)
        }
        #expect(machine.members[0].health == .healthy(failuresInRow: 0))
        #expect(machine.counts.ejections == 0)
    }

    @Test func aDroppedProbe() throws {
        var machine = Machine(Self.turns, try endpoints("ab"))
        _ = try names(&machine, 10, fails: ["a"])
        let probe = try #require(try (0..<2).map { _ in try pick(&machine, at: 30_000) }.first { name($0) == "a" })
        #expect(machine.members[0].health == .probing(probe.number, until: .seconds(60)))
        machine.requestEnded(probe, .dropped, draw: .init(0, 0), now: .seconds(30))
        #expect(machine.members[0].health == .returning)
        #expect(try names(&machine, 2, at: 30_000).contains("a"))
        #expect(machine.members[0].health == .healthy(failuresInRow: 0))
    }

    /// A probe without an end does not keep the endpoint out for ever. The first probe with a result decides.
    @Test(arguments: [true, false])
    func aProbeThatDoesNotEnd(succeeds: Bool) throws {
        var machine = Machine(Self.turns, try endpoints("ab"))
        _ = try names(&machine, 10, fails: ["a"])
        func probe(_ now: Int) throws -> Machine.Pick? {
            try (0..<2).map { _ in try pick(&machine, at: now) }.first { name($0) == "a" }
        }
        let slow = try #require(try probe(30_000))
        #expect(try probe(59_999) == nil)
        let next = try #require(try probe(60_000))
        #expect(slow.isProbe && next.isProbe)
        machine.requestEnded(slow, .dropped, draw: .init(0, 0), now: .seconds(61))
        #expect(machine.members[0].health == .probing(next.number, until: .seconds(90)))
        let third = try #require(try probe(90_000))
        machine.requestEnded(next, succeeds ? .success(.zero) : .failure(.zero), draw: .init(0, 0), now: .seconds(91))
        #expect(machine.members[0].health.isHealthy == succeeds)
        let health = machine.members[0].health
        machine.requestEnded(third, .dropped, draw: .init(0, 0), now: .seconds(92))
        #expect(machine.members[0].health == health && machine.members[0].pending == 0)
    }

    /// Results of requests from before an ejection do not count.
    @Test func lateResults() throws {
        var machine = Machine(Self.turns, try endpoints("ab"))
        let late = try (0..<32).map { _ in try pick(&machine) }.filter { name($0) == "a" }
        for pick in late.prefix(5) { machine.requestEnded(pick, .failure(.zero), draw: .init(0, 0), now: .zero) }
        #expect(machine.members[0].health == .ejected(until: .seconds(30)))
        machine.requestEnded(late[5], .failure(.zero), draw: .init(0, 0), now: .seconds(1))
        #expect(machine.members[0].health == .ejected(until: .seconds(30)))
        machine.requestEnded(late[6], .success(.zero), draw: .init(0, 0), now: .seconds(30))
        #expect(machine.members[0].health == .returning)
        let probe = try #require(try (0..<2).map { _ in try pick(&machine, at: 30_000) }.first { name($0) == "a" })
        machine.requestEnded(late[7], .failure(.zero), draw: .init(0, 0), now: .seconds(30))
        #expect(machine.members[0].health == .probing(probe.number, until: .seconds(60)))
        #expect(machine.members[0].pending == 9)
        // Not even when the endpoint is healthy again.
        machine.requestEnded(probe, .success(.zero), draw: .init(0, 0), now: .seconds(30))
        for pick in late[8...] { machine.requestEnded(pick, .failure(.zero), draw: .init(0, 0), now: .seconds(30)) }
        #expect(machine.members[0].health == .healthy(failuresInRow: 0))
        #expect(machine.members[0].pending == 0)
    }

    @Test func neverTooManyAreEjected() throws {
        var machine = Machine(EndpointPolicy(.roundRobin, panicThreshold: 0), try endpoints("abcde"))
        _ = try names(&machine, 100, fails: ["a", "b", "c", "d", "e"])
        #expect(machine.unhealthyCount == 2)
        #expect(machine.counts.sparedEjections > 0)
        // A shorter list takes them back.
        replace(&machine, try endpoints("abc"))
        #expect(machine.unhealthyCount == 1)
        replace(&machine, try endpoints("a"))
        #expect(machine.unhealthyCount == 0)
        #expect(try names(&machine, 20, fails: ["a"]) == String(repeating: "a", count: 20))
        var none = Machine(EndpointPolicy(.roundRobin, outliers: .init(largestShare: 0)), try endpoints("ab"))
        _ = try names(&none, 50, fails: ["a"])
        #expect(none.unhealthyCount == 0)
        var one = Machine(EndpointPolicy(.roundRobin, outliers: .init(largestShare: 0.01)), try endpoints("ab"))
        _ = try names(&one, 50, fails: ["a", "b"])
        #expect(one.unhealthyCount == 1)
    }

    @Test func panic() throws {
        let outliers = EndpointPolicy.Outliers(largestShare: 1)
        var machine = Machine(EndpointPolicy(.roundRobin, outliers: outliers), try endpoints("abcd"))
        _ = try names(&machine, 20, fails: ["a", "b", "c"])
        #expect(machine.unhealthyCount == 3)
        // Only a quarter is healthy: health is ignored.
        #expect(Set(try names(&machine, 8)) == Set("abcd"))
        #expect(machine.counts.panics == 9)
        #expect(machine.members[0].health == .ejected(until: .seconds(30)))
        var without = Machine(
            EndpointPolicy(.roundRobin, outliers: outliers, panicThreshold: 0), try endpoints("ab"))
        _ = try names(&without, 10, fails: ["a", "b"])
        #expect(throws: EndpointRefusal(.noneHealthy)) { try pick(&without) }
        #expect(throws: EndpointRefusal(.noneHealthy)) { try pick(&without, tried: "ab", repeats: false) }
        #expect(try names(&without, 1, at: 30_000).count == 1)
    }

    @Test func successRatesAreCompared() throws {
        let outliers = EndpointPolicy.Outliers(consecutiveFailures: 0, successRate: .init(minimumRequests: 20))
        var machine = Machine(EndpointPolicy(.roundRobin, outliers: outliers), try endpoints("abcdef"))
        func interval(_ now: Int, failing: [String: Int]) throws {
            for request in 0..<240 {
                let picked = try pick(&machine, at: now)
                let fails = failing[name(picked)].map { request / 6 % $0 == 0 } ?? false
                let outcome: Machine.Outcome = fails ? .failure(.zero) : .success(.zero)
                machine.requestEnded(picked, outcome, draw: .init(0, 0), now: .milliseconds(now))
            }
        }
        // Every other request to c fails, never two in a row; each 20th to d.
        try interval(0, failing: ["c": 2, "d": 20])
        #expect(machine.counts.ejections == 0)
        machine.timePassed(.milliseconds(9999), 0)
        #expect(machine.counts.ejections == 0)
        machine.timePassed(.milliseconds(10_000), 0)
        #expect(machine.members.map(\.health.isHealthy) == [true, true, false, true, true, true])
        // All alike: none is an outlier.
        try interval(41_000, failing: ["a": 2, "b": 2, "c": 2, "d": 2, "e": 2, "f": 2])
        machine.timePassed(.seconds(60), 0)
        #expect(machine.counts.ejections <= 2)
        // Too few requests, or endpoints.
        for names in ["abcd", "abcdef"] {
            var small = Machine(
                EndpointPolicy(
                    .roundRobin,
                    outliers: .init(
                        consecutiveFailures: 0, successRate: .init(minimumRequests: names.count == 4 ? 5 : 50))),
                try endpoints(names))
            _ = try self.names(&small, 120, fails: ["a"])
            small.timePassed(.seconds(10), 0)
            #expect(small.counts.ejections == 0)
        }
    }

    @Test func aQuietIntervalShortensTheNextEjection() throws {
        var machine = Machine(Self.turns, try endpoints("ab"))
        _ = try names(&machine, 10, fails: ["a"])
        #expect(machine.members[0].severity == 1)
        _ = try names(&machine, 2, at: 30_000)
        #expect(machine.members[0].health.isHealthy)
        machine.timePassed(.seconds(40), 0)
        #expect(machine.members[0].severity == 0)
        // Ejections have a longest time, and random is added.
        let outliers = EndpointPolicy.Outliers(
            consecutiveFailures: 1, baseEjection: .seconds(10), longestEjection: .seconds(25), jitter: 0.2)
        var other = Machine(EndpointPolicy(.roundRobin, outliers: outliers), try endpoints("ab"))
        var now = 0
        var spans: [Duration] = []
        while spans.count < 4 {
            let picked = try pick(&other, at: now)
            guard name(picked) == "a" else {
                other.requestEnded(picked, .success(.zero), draw: .init(0, 0), now: .milliseconds(now))
                continue
            }
            other.requestEnded(picked, .failure(.zero), draw: .init(0.5, 0), now: .milliseconds(now))
            guard case .ejected(let until) = other.members[0].health else { break }
            spans.append(until - .milliseconds(now))
            now = Int(until.inSeconds * 1000 + 0.5)
        }
        #expect(spans == [.seconds(11), .seconds(22), .milliseconds(27_500), .milliseconds(27_500)])
    }

    @Test func aDryRun() throws {
        let policy = EndpointPolicy(.roundRobin, outliers: .init(isDryRun: true))
        var machine = Machine(policy, try endpoints("ab"))
        _ = try names(&machine, 20, fails: ["a"])
        #expect(machine.counts.wouldEject == 2 && machine.counts.ejections == 0 && machine.unhealthyCount == 0)
    }

    @Test func otherEndpointsAfterAFailure() throws {
        var machine = Machine(Self.turns, try endpoints("abc"))
        #expect(Set(try names(&machine, 6, tried: "a")) == Set("bc"))
        #expect(Set(try names(&machine, 6, tried: "ab")) == Set("c"))
        #expect(machine.counts.repeats == 0)
        let again = try pick(&machine, tried: "abc")
        #expect(again.isRepeated && machine.counts.repeats == 1)
        #expect(throws: EndpointRefusal(.allTried)) { try pick(&machine, tried: "abc", repeats: false) }
        // A tried healthy endpoint is better than an ejected one.
        var other = Machine(Self.turns, try endpoints("ab"))
        _ = try names(&other, 10, fails: ["a"])
        #expect(name(try pick(&other, tried: "b")) == "b")
        #expect(throws: EndpointRefusal(.allTried)) { try pick(&other, tried: "b", repeats: false) }
        var empty = Machine(Self.turns)
        #expect(throws: EndpointRefusal(.noEndpoints)) { try pick(&empty) }
        #expect(empty.counts.refused == 1)
    }

    @Test func thePreferredZone() throws {
        let policy = EndpointPolicy(.roundRobin, zonePreference: .init("x"))
        var machine = Machine(policy, try endpoints("abcd", zones: ["x", "x", "y", nil]))
        #expect(Set(try names(&machine, 8)) == Set("ab"))
        // Other zones for a retry, and where too few of the zone are healthy.
        #expect(Set(try names(&machine, 4, tried: "ab")) == Set("cd"))
        #expect(machine.counts.crossZone == 4)
        _ = try names(&machine, 10, fails: ["a"])
        #expect(Set(try names(&machine, 9)) == Set("bcd"))
        var foreign = Machine(policy, try endpoints("ab", zones: ["y"]))
        #expect(Set(try names(&foreign, 4)) == Set("ab"))
    }

    @Test func aNewListKeepsWhatStays() throws {
        var machine = Machine(EndpointPolicy(), try endpoints("abc"))
        let open = try pick(&machine, tried: "bc")
        for _ in 0..<5 {
            let picked = try pick(&machine, tried: "ac")
            machine.requestEnded(picked, .failure(.zero), draw: .init(0, 0), now: .zero)
        }
        replace(&machine, try endpoints("dba") + [Endpoint("http://b", weight: 9)] + [Endpoint("http://a/other")])
        #expect(machine.members.map(\.endpoint.url) == ["http://d:80", "http://b:80", "http://a:80"])
        #expect(machine.members.map(\.pending) == [0, 0, 1])
        #expect(machine.members[1].health == .ejected(until: .seconds(30)))
        #expect(machine.members[1].endpoint.weight == 1)
        // A request of an endpoint that has left, and has come back as a new one.
        replace(&machine, try endpoints("d"))
        replace(&machine, try endpoints("da"))
        machine.requestEnded(open, .failure(.zero), draw: .init(0, 0), now: .zero)
        #expect(machine.members[1].pending == 0)
        #expect(machine.members[1].health == .healthy(failuresInRow: 0))
    }
}
