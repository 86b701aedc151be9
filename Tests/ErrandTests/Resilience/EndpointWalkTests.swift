import ErrandTesting
import Testing

@testable import ErrandModel
@testable import ErrandResilience

@Suite struct EndpointWalkTests {
    private typealias Machine = EndpointStateMachine

    /// Whatever happens: the pending requests are those that are open, no more endpoints are out than allowed, a tried
    /// endpoint is chosen only where no other may be used, and an ejected one only in a panic.
    @Test(arguments: 0..<15)
    func randomWalks(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let balancing: [EndpointPolicy.Balancing] = [
            .powerOfTwo(.init()), .roundRobin, .ringHash(.init(size: 64, loadBound: seed % 2 == 0 ? nil : 1.5)),
        ]
        let outliers = EndpointPolicy.Outliers(
            consecutiveFailures: 2, successRate: .init(minimumEndpoints: 2, minimumRequests: 3),
            largestShare: [0, 0.3, 1][Int(seed / 3 % 3)])
        let policy = EndpointPolicy(
            balancing[Int(seed % 3)], outliers: outliers, panicThreshold: [0, 0.5][Int(seed / 2 % 2)],
            zonePreference: seed % 4 == 0 ? .init("x") : nil)
        let all = try (0..<8).map { index in
            try Endpoint("http://e\(index)", weight: 1 + index % 3, zone: index % 2 == 0 ? "x" : "y")
        }
        var machine = Machine(policy, all)
        var open: [Machine.Pick] = []
        // The numbers of open requests that have voted.
        var voted: Set<UInt64> = []
        var now = Duration.zero

        func check() {
            for member in machine.members {
                #expect(member.pending == open.filter { $0.member == member.id }.count)
                if case .probing(let number, _) = member.health {
                    #expect(open.contains { $0.number == number } && !voted.contains(number))
                }
                if case .ejected(let until) = member.health { #expect(until <= now + .seconds(331)) }
            }
            #expect(machine.unhealthyCount == machine.members.count(where: { !$0.health.isHealthy }))
            #expect(machine.unhealthyCount <= machine.ejectionCapacity)
            #expect(machine.members.count != 1 || machine.unhealthyCount == 0)
        }

        for _ in 0..<2000 {
            now += .milliseconds(Int.random(in: 0...2000, using: &random))
            let draw = Machine.Draw(.random(in: 0...1, using: &random), .random(in: 0...1, using: &random))
            switch Int.random(in: 0..<22, using: &random) {
            case 0..<9:
                let tried = Set(
                    machine.members.map(\.endpoint.url).filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
                let repeats = Bool.random(using: &random)
                machine.timePassed(now, draw.second)
                let before = machine.members
                let panics = machine.counts.panics
                let key = Bool.random(using: &random) ? "\(Int.random(in: 0..<50, using: &random))" : nil
                let result = machine.endpointRequested(
                    key: key, excluding: tried, allowsRepeats: repeats, draw: draw, now: now)
                let isPanic = machine.counts.panics > panics
                let usable = before.filter { $0.health.isHealthy || $0.health == .returning || isPanic }
                switch result {
                case .success(let pick):
                    open.append(pick)
                    #expect(usable.contains { $0.id == pick.member })
                    #expect(pick.isRepeated == tried.contains(pick.endpoint.url))
                    if pick.isRepeated { #expect(usable.allSatisfy { tried.contains($0.endpoint.url) } && repeats) }
                case .failure(let refusal):
                    switch refusal.reason {
                    case .noEndpoints: #expect(before.isEmpty)
                    case .noneHealthy: #expect(usable.isEmpty)
                    case .allTried: #expect(!repeats && usable.allSatisfy { tried.contains($0.endpoint.url) })
                    }
                }
            case 9..<18:
                guard !open.isEmpty else { break }
                let pick = open.remove(at: Int.random(in: 0..<open.count, using: &random))
                let latency = Duration.milliseconds(Int.random(in: 0...300, using: &random))
                let outcomes: [Machine.Outcome] = [
                    .success(latency), .failure(latency), .dropped, .throttled(latency, wait: .seconds(5)),
                    .failure(latency, wait: .seconds(1)), .lost(latency, isLate: latency > .milliseconds(100)),
                    .abandoned(latency),
                ]
                let outcome = outcomes[Int.random(in: 0..<outcomes.count, using: &random)]
                let hasVoted = voted.remove(pick.number) != nil
                machine.requestEnded(pick, hasVoted ? .voted : outcome, draw: draw, now: now)
            case 18, 19:
                guard let pick = open.randomElement(using: &random), voted.insert(pick.number).inserted else { break }
                let status = [200, 429, 503][Int.random(in: 0..<3, using: &random)]
                let outcome = Machine.Outcome(status: status, retryAfter: nil, latency: .milliseconds(20))
                machine.requestAnswered(pick, outcome, draw: draw, now: now)
            case 20: machine.timePassed(now, draw.second)
            default:
                let list = all.shuffled(using: &random).prefix(Int.random(in: 0...8, using: &random))
                machine.endpointsReplaced(EndpointList(Array(list), policy))
                // Requests of endpoints that have left are not counted any more.
                let ids = Set(machine.members.map(\.id))
                open.removeAll { !ids.contains($0.member) }
            }
            check()
        }
    }

    /// Numbers from a broken clock or settings make nothing trap.
    @Test func oddNumbers() throws {
        let odd: [Double] = [.nan, .infinity, -.infinity, -1, 0, 2]
        let spans: [Duration] = [.zero, .seconds(-1), .seconds(Int64.max), .seconds(Int64.min)]
        for number in odd {
            for span in spans {
                let outliers = EndpointPolicy.Outliers(
                    consecutiveFailures: 1, stallTime: span,
                    successRate: .init(factor: number, minimumEndpoints: .min, minimumRequests: .min), interval: span,
                    baseEjection: span, longestEjection: span, jitter: number, largestShare: number)
                for balancing: EndpointPolicy.Balancing in [
                    .powerOfTwo(
                        .init(
                            decay: span, assumed: span, failurePenalty: span, throttlePenalty: span,
                            longestRetryAfter: span)),
                    .ringHash(.init(size: number.isNaN ? .max : 16, loadBound: number)),
                ] {
                    var machine = Machine(
                        EndpointPolicy(
                            balancing, outliers: outliers, panicThreshold: number,
                            zonePreference: .init("x", healthyShare: number)),
                        [try Endpoint("http://a", weight: 1000, zone: "x"), try Endpoint("http://b")])
                    for now in spans {
                        for outcome: Machine.Outcome in [
                            .success(span), .failure(span), .dropped, .lost(span, isLate: true),
                            .throttled(span, wait: span), .failure(span, wait: span), .abandoned(span),
                        ] {
                            let pick = try? machine.endpointRequested(
                                key: nil, excluding: [], allowsRepeats: true, draw: .init(number, number), now: now
                            ).get()
                            guard let pick else { continue }
                            machine.requestEnded(pick, outcome, draw: .init(number, number), now: now)
                            // Twice is a mistake of the shell, which must not trap either.
                            machine.requestEnded(pick, outcome, draw: .init(number, number), now: now)
                        }
                    }
                }
            }
        }
    }
}
