import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

private typealias Machine = BreakerMachine

/// A machine with the permits that it gave.
private struct Driver {
    var machine: Machine
    var permits: [Machine.Permit] = []
    var now = Duration.zero

    init(_ policy: BreakerPolicy) {
        machine = Machine(policy)
    }

    /// Asks for a permit; the answer in words.
    mutating func ask() -> String {
        let (decision, transitions) = machine.permitWanted(now: now, random: 0)
        if case .allow(let permit) = decision { permits.append(permit) }
        return words(decision, transitions)
    }

    func words(_ decision: Machine.Decision, _ transitions: [BreakerTransition]) -> String {
        let changes = transitions.map { words($0) + ", " }.joined()
        switch decision {
        case .allow(let permit):
            return changes + (permit.isCounted ? "allow" : "allow uncounted")
        case .refuse(let refusal):
            let time = refusal.retryAfter.map { "\($0 / .seconds(1))" } ?? "-"
            return changes + "refuse \(refusal.state.rawValue) \(time)"
        }
    }

    mutating func release(_ index: Int, _ outcome: BreakerOutcome) -> String {
        words(machine.permitReleased(permits[index], outcome, now: now, random: 0))
    }

    /// The call waits.
    mutating func hold(_ index: Int) { machine.permitHeld(permits[index]) }

    /// The call is sent after its wait; the answer in words.
    mutating func send(_ index: Int) -> String {
        let (decision, transitions) = machine.permitUsed(permits[index], now: now, random: 0)
        if case .allow(let permit) = decision { permits[index] = permit }
        return words(decision, transitions)
    }

    mutating func call(_ outcome: BreakerOutcome) -> String {
        let answer = ask()
        return answer.hasSuffix("allow") ? answer + ", " + release(permits.count - 1, outcome) : answer
    }

    func words(_ transition: BreakerTransition?) -> String {
        guard let transition else { return "-" }
        let time = transition.openFor.map { " for \($0 / .seconds(1))" } ?? ""
        return "\(transition.from.rawValue) to \(transition.to.rawValue)\(time): \(transition.cause.rawValue)"
    }
}

@Suite struct BreakerMachineTests {
    private static let policy = BreakerPolicy(
        window: .count(4), failureRate: 0.5, minimumCalls: 2, openTime: .seconds(5), longestOpenTime: .seconds(15),
        halfOpenPermits: 2, permitLifetime: .seconds(30))

    private enum Place: CaseIterable {
        case closed, open, openPassed, probing, probesOut, forcedOpen, forcedClosed, disabled
    }

    /// The first permit is that of a call that began while the breaker was closed.
    private static func driver(at place: Place, _ policy: BreakerPolicy = policy) -> Driver {
        var driver = Driver(policy)
        _ = driver.ask()
        if place == .closed { return driver }
        switch place {
        case .closed: break
        case .forcedOpen: _ = driver.machine.overridden(.open)
        case .forcedClosed: _ = driver.machine.overridden(.closed)
        case .disabled: _ = driver.machine.overridden(.disabled)
        case .open, .openPassed, .probing, .probesOut:
            for _ in 0..<2 { _ = driver.call(.failure) }
            if place == .open { break }
            driver.now += .seconds(5)
            if place == .openPassed { break }
            _ = driver.ask()
            if place == .probesOut { _ = driver.ask() }
        }
        return driver
    }

    @Test func aCallInEveryState() {
        let expected: [Place: [String]] = [
            .closed: ["allow", "allow", "allow"],
            .open: ["refuse open 5.0", "refuse open 5.0", "refuse open 5.0"],
            .openPassed: ["open to halfOpen: openTimePassed, allow", "allow", "refuse halfOpen 30.0"],
            .probing: ["allow", "refuse halfOpen 30.0", "refuse halfOpen 30.0"],
            .probesOut: ["refuse halfOpen 30.0", "refuse halfOpen 30.0", "refuse halfOpen 30.0"],
            .forcedOpen: ["refuse forcedOpen -", "refuse forcedOpen -", "refuse forcedOpen -"],
            .forcedClosed: ["allow", "allow", "allow"],
            .disabled: ["allow uncounted", "allow uncounted", "allow uncounted"],
        ]
        for place in Place.allCases {
            var driver = Self.driver(at: place)
            #expect((0..<3).map { _ in driver.ask() } == expected[place], "\(place)")
        }
    }

    @Test func aFailureInEveryState() {
        let expected: [Place: (own: String, former: String)] = [
            .closed: ("-", "-"), .open: ("", "-"), .openPassed: ("", "-"),
            .probing: ("halfOpen to open for 10.0: failureRate", "-"),
            .probesOut: ("halfOpen to open for 10.0: failureRate", "-"), .forcedOpen: ("", "-"),
            .forcedClosed: ("", "-"), .disabled: ("", "-"),
        ]
        for place in Place.allCases {
            let (own, former) = expected[place] ?? ("?", "?")
            var late = Self.driver(at: place)
            let tally = late.machine.tally
            let state = late.machine.name
            #expect(late.release(0, .failure) == former, "\(place)")
            #expect(late.machine.name == state)
            if place != .closed {
                #expect(late.machine.tally == tally && late.machine.counts.late == 1, "\(place)")
            }
            if own.isEmpty { continue }
            var driver = Self.driver(at: place)
            #expect(driver.release(driver.permits.count - 1, .failure) == own, "\(place)")
        }
    }

    @Test func anOperatorInEveryState() {
        for place in Place.allCases {
            let state = Self.driver(at: place).machine.name
            let overrides: [(BreakerOverride, BreakerState)] = [
                (.open, .forcedOpen), (.closed, .forcedClosed), (.disabled, .disabled),
            ]
            for (override, new) in overrides {
                var driver = Self.driver(at: place)
                let transition = driver.machine.overridden(override)
                #expect(driver.machine.name == new)
                #expect(driver.words(transition) == (state == new ? "-" : "\(state) to \(new): operated"))
            }
            var driver = Self.driver(at: place)
            let transition = driver.machine.released()
            #expect(driver.machine.name == .closed)
            #expect(driver.words(transition) == (state == .closed ? "-" : "\(state) to closed: operated"))
        }
    }

    @Test func forcedStatesCountOrDoNot() {
        var forced = Self.driver(at: .forcedClosed)
        for _ in 0..<10 { #expect(forced.call(.failure) == "allow, -") }
        #expect(forced.machine.tally.failures == 4)
        var disabled = Self.driver(at: .disabled)
        for _ in 0..<10 { #expect(disabled.call(.failure) == "allow uncounted") }
        #expect(disabled.machine.tally.calls == 0)
        #expect(disabled.machine.released() != nil)
        #expect(disabled.release(disabled.permits.count - 1, .failure) == "-")
        #expect(disabled.machine.tally.calls == 0)
    }

    @Test func noRateIsJudgedBelowTheMinimum() {
        var driver = Driver(BreakerPolicy(window: .count(10), failureRate: 0.5, minimumCalls: 4))
        for outcome in [BreakerOutcome.failure, .failure, .ignored, .ignored, .success] {
            #expect(driver.call(outcome) == "allow, -")
        }
        #expect(driver.call(.success) == "allow, closed to open for 5.0: failureRate")
    }

    @Test func slowCallsOpenTheBreaker() {
        var driver = Driver(
            BreakerPolicy(window: .count(4), slowCallRate: 0.75, slowCallDuration: .seconds(1), minimumCalls: 4))
        for _ in 0..<4 { _ = driver.ask() }
        driver.now = .milliseconds(999)
        #expect(driver.release(0, .success) == "-")
        driver.now = .seconds(1)
        #expect(driver.release(1, .success) == "-")
        #expect(driver.release(2, .success) == "-")
        #expect(driver.release(3, .success) == "closed to open for 5.0: slowCallRate")
    }

    /// A wait before a call is sent is no part of the call.
    @Test func aWaitIsNotSlow() {
        var driver = Driver(
            BreakerPolicy(window: .count(4), slowCallRate: 0.5, slowCallDuration: .seconds(1), minimumCalls: 2))
        for index in 0..<4 {
            #expect(driver.ask() == "allow")
            driver.hold(index)
            driver.now += .seconds(9)
            #expect(driver.send(index) == "allow")
            driver.now += .milliseconds(999)
            #expect(driver.release(index, .success) == "-")
        }
        #expect(driver.machine.tally.calls == 4 && driver.machine.tally.slow == 0)
    }

    /// A call that got its permit while the breaker was closed is sent after a wait.
    @Test func aFormerPermitIsExchanged() {
        let expected: [Place: String] = [
            .closed: "allow", .open: "refuse open 5.0", .openPassed: "open to halfOpen: openTimePassed, allow",
            .probing: "allow", .probesOut: "refuse halfOpen 30.0", .forcedOpen: "refuse forcedOpen -",
            .forcedClosed: "allow", .disabled: "allow uncounted",
        ]
        for place in Place.allCases {
            var driver = Self.driver(at: place)
            driver.hold(0)
            #expect(driver.send(0) == expected[place], "\(place)")
            #expect(driver.machine.counts.late == 0)
        }
        // The new permit is that of a probe, and votes.
        var driver = Self.driver(at: .openPassed)
        #expect(driver.send(0) == "open to halfOpen: openTimePassed, allow")
        #expect(driver.release(0, .failure) == "halfOpen to open for 10.0: failureRate")
    }

    @Test func anExpiredProbeIsExchanged() {
        var driver = Self.driver(at: .probing)
        driver.hold(driver.permits.count - 1)
        driver.now += .seconds(30)
        #expect(driver.send(driver.permits.count - 1) == "allow")
        #expect(driver.release(driver.permits.count - 1, .success) == "-")
        #expect(driver.machine.tally.calls == 1 && driver.machine.counts.expired == 0)
        // Another probe was sent, and was lost.
        var other = Self.driver(at: .probesOut)
        other.hold(other.permits.count - 1)
        other.now += .seconds(30)
        let answer = other.send(other.permits.count - 1)
        #expect(answer == "halfOpen to open for 10.0: failureRate, refuse open 10.0")
    }

    @Test func probesCloseTheBreaker() {
        var driver = Self.driver(at: .probesOut)
        let last = driver.permits.count - 1
        #expect(driver.release(last, .success) == "-")
        // A permit is released once: the second probe is still under way.
        #expect(driver.release(last, .success) == "-")
        #expect(driver.ask() == "refuse halfOpen 30.0")
        #expect(driver.release(last - 1, .success) == "halfOpen to closed: probesSucceeded")
        // The row of openings ends here.
        #expect(driver.call(.failure) == "allow, -")
        #expect(driver.call(.failure) == "allow, closed to open for 5.0: failureRate")
    }

    @Test func anIgnoredProbeGivesItsPlaceBack() {
        var driver = Self.driver(at: .probesOut)
        #expect(driver.release(driver.permits.count - 1, .ignored) == "-")
        #expect(driver.ask() == "allow")
        #expect(driver.ask() == "refuse halfOpen 30.0")
    }

    @Test func lostProbesDoNotKeepTheBreakerHalfOpen() {
        var driver = Self.driver(at: .probesOut)
        driver.now += .milliseconds(29_500)
        #expect(driver.ask() == "refuse halfOpen 0.5")
        driver.now += .milliseconds(500)
        #expect(driver.ask() == "halfOpen to open for 10.0: failureRate, refuse open 10.0")
        #expect(driver.machine.counts.expired == 2)
        #expect(driver.release(driver.permits.count - 1, .success) == "-")
        driver.now += .seconds(10)
        #expect(driver.ask() == "open to halfOpen: openTimePassed, allow")
        #expect(driver.call(.failure) == "allow, halfOpen to open for 15.0: failureRate")
    }

    /// The lifetime of a probe begins when the probe is sent.
    @Test func aProbeThatWaitsLivesLonger() {
        var driver = Self.driver(at: .probing)
        let probe = driver.permits.count - 1
        driver.hold(probe)
        driver.now += .seconds(29)
        #expect(driver.send(probe) == "allow")
        driver.now += .seconds(29)
        #expect(driver.ask() == "allow")
        #expect(driver.ask() == "refuse halfOpen 1.0")
        #expect(driver.release(probe, .success) == "-")
        #expect(driver.release(probe + 1, .success) == "halfOpen to closed: probesSucceeded")
    }

    /// A probe that does not leave the client within its lifetime gives its place back. It says nothing about the
    /// endpoint.
    @Test func aProbeThatIsNeverSentDoesNotVote() {
        var driver = Self.driver(at: .probesOut)
        let last = driver.permits.count - 1
        driver.hold(last - 1)
        driver.hold(last)
        driver.now += .milliseconds(29_500)
        #expect(driver.ask() == "refuse halfOpen 0.5")
        driver.now += .milliseconds(500)
        #expect(driver.call(.success) == "allow, -")
        #expect(driver.call(.success) == "allow, halfOpen to closed: probesSucceeded")
        #expect(driver.machine.counts.expired == 0)
        // Their results come too late.
        #expect(driver.release(last, .failure) == "-" && driver.machine.name == .closed)
    }

    @Test func aDryRunLetsEverythingPass() {
        let policy = BreakerPolicy(
            window: .count(4), minimumCalls: 2, openTime: .seconds(5), halfOpenPermits: 1, isDryRun: true)
        var driver = Driver(policy)
        _ = driver.call(.failure)
        #expect(driver.call(.failure) == "allow, closed to open for 5.0: failureRate")
        for _ in 0..<3 { #expect(driver.ask() == "allow uncounted") }
        // The calls that passed are no probes.
        #expect(driver.release(driver.permits.count - 1, .failure) == "-")
        driver.now = .seconds(5)
        #expect(driver.ask() == "open to halfOpen: openTimePassed, allow")
        #expect(driver.ask() == "allow uncounted")
        #expect(driver.machine.counts.wouldRefuse == 4 && driver.machine.counts.refused == 0)
        #expect(driver.release(driver.permits.count - 2, .success) == "halfOpen to closed: probesSucceeded")
        _ = driver.machine.overridden(.open)
        #expect(driver.ask() == "refuse forcedOpen -")
    }

    @Test func oldResultsLeaveATimeWindow() {
        var driver = Driver(BreakerPolicy(window: .time(.seconds(10)), failureRate: 0.5, minimumCalls: 4))
        for _ in 0..<3 { #expect(driver.call(.failure) == "allow, -") }
        driver.now = .seconds(10)
        for _ in 0..<3 { #expect(driver.call(.failure) == "allow, -") }
        #expect(driver.machine.tally.calls == 3)
        driver.now = .milliseconds(19_999)
        #expect(driver.call(.failure) == "allow, closed to open for 5.0: failureRate")
    }
}
