import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

@Suite struct BreakerPolicyTests {
    @Test func numbersOutOfRangeAreClamped() {
        let low = BreakerPolicy(
            window: .count(0), failureRate: -1, slowCallRate: -.infinity, slowCallDuration: .seconds(-1),
            minimumCalls: .min, openTime: .zero, longestOpenTime: .seconds(-1), jitter: -2, halfOpenPermits: 0,
            permitLifetime: .seconds(-1))
        #expect(low.window == .count(1) && low.minimumCalls == 1 && low.failureRate == 0 && low.slowCallRate == 0)
        #expect(low.openTime == .milliseconds(1) && low.longestOpenTime == .milliseconds(1) && low.jitter == 0)
        #expect(low.halfOpenPermits == 1 && low.permitLifetime == .milliseconds(1) && low.slowCallDuration == .zero)
        let high = BreakerPolicy(
            window: .count(.max), failureRate: 7, slowCallRate: .infinity, minimumCalls: .max,
            openTime: .seconds(Int64.max), longestOpenTime: .seconds(Int64.max), jitter: 9, halfOpenPermits: .max,
            permitLifetime: .seconds(Int64.max))
        #expect(high.window == .count(10_000) && high.minimumCalls == 10_000)
        #expect(high.failureRate == 1 && high.slowCallRate == 1 && high.jitter == 1 && high.halfOpenPermits == 1000)
        #expect(high.openTime == .longestSleep && high.permitLifetime == .longestSleep)
        #expect(BreakerPolicy(window: .time(.zero)).window == .time(.milliseconds(100)))
        #expect(BreakerPolicy(window: .time(.seconds(Int64.max))).window == .time(.seconds(3600)))
        let unknown = BreakerPolicy(failureRate: .nan, slowCallRate: .nan, jitter: .nan)
        #expect(unknown == BreakerPolicy())
        var machine = BreakerMachine(high)
        for now in [Duration.seconds(Int64.min), .seconds(Int64.max), .zero] {
            guard case .allow(let permit) = machine.permitWanted(now: now, random: .nan).decision else {
                Issue.record("refused")
                continue
            }
            _ = machine.permitReleased(permit, .failure, now: now, random: .infinity)
        }
    }

    @Test func openTimesDoubleUpToTheLongest() {
        let policy = BreakerPolicy(openTime: .seconds(5), longestOpenTime: .seconds(60), jitter: 0.2)
        let times = (1...6).map { policy.openTime(opening: $0, random: 0) / .seconds(1) }
        #expect(times == [5, 10, 20, 40, 60, 60])
        #expect(policy.openTime(opening: .max, random: 0) == .seconds(60))
        #expect(policy.openTime(opening: 1, random: 1) == .seconds(4))
        #expect(policy.openTime(opening: 5, random: 0.5) == .seconds(54))
        #expect(BreakerPolicy(jitter: 1).openTime(opening: 1, random: 1) == .milliseconds(1))
    }

    @Test(
        arguments: [
            (200, .success), (304, .success), (404, .success), (429, .success), (499, .success), (500, .failure),
            (503, .failure), (599, .failure), (600, .success),
        ] as [(Int, BreakerOutcome)])
    func votesOfAnswers(status: Int, outcome: BreakerOutcome) {
        #expect(BreakerOutcome(status: status) == outcome)
        let error = ErrandError.statusNotAccepted.with(response: Response(statusCode: status))
        #expect(BreakerOutcome(error: error) == outcome)
    }

    @Test(
        arguments: [
            (.connectFailed, .failure), (.timeoutFirstByte, .failure), (.connectionLost, .failure),
            (.malformedResponse, .failure), (.cancelled, .ignored), (.queueFull, .ignored), (.timeoutQueue, .ignored),
            (.outOfDescriptors, .ignored), (.shutDown, .ignored), (.interceptionFailed, .ignored),
            (.connectFailed.refused, .ignored),
        ] as [(ErrandError, BreakerOutcome)])
    func votesOfErrors(error: ErrandError, outcome: BreakerOutcome) {
        #expect(BreakerOutcome(error: error) == outcome)
    }

    @Test func aStoppedCallDoesNotVoteByTheHeadThatCame() {
        #expect(BreakerOutcome(error: .cancelled.with(response: Response(statusCode: 500))) == .ignored)
    }
}
