import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

private typealias Machine = HedgeMachine

@Suite struct HedgeMachineTests {
    private enum Event: Sendable {
        case started, elapsed, early, granted, refused
        case sent(Int)
        case failed(Int), fatal(Int), delayed(Int), stopped(Int), succeeded(Int)
        case cancelled
    }

    /// The delay is 10 ms, and all events are at 100 ms, those of the second attempt 10 ms later.
    private static func take(_ event: Event, _ machine: inout Machine) -> Machine.Action {
        let now = Duration.milliseconds(100)
        return switch event {
        case .started: machine.started()
        case .sent(let attempt): machine.attemptSent(attempt, now: attempt == 1 ? now : now + .milliseconds(10))
        case .elapsed: machine.delayElapsed(now: now + .milliseconds(10))
        case .early: machine.delayElapsed(now: now + .milliseconds(9))
        case .granted: machine.budgetAnswered(granted: true, now: now + .milliseconds(10))
        case .refused: machine.budgetAnswered(granted: false, now: now)
        case .failed(let attempt): machine.attemptFailed(attempt, isFatal: false, now: now)
        case .fatal(let attempt): machine.attemptFailed(attempt, isFatal: true, now: now)
        case .delayed(let attempt):
            machine.attemptFailed(attempt, isFatal: false, pushback: .wait(.milliseconds(50)), now: now)
        case .stopped(let attempt): machine.attemptFailed(attempt, isFatal: false, pushback: .stop, now: now)
        case .succeeded(let attempt): machine.attemptSucceeded(attempt)
        case .cancelled: machine.cancelled()
        }
    }

    private static func machine(
        _ events: [Event] = [], extra: Int = 2, delay: Duration? = .milliseconds(10), isRepeatable: Bool = true,
        deadline: Duration? = nil
    ) -> Machine {
        var machine = Machine(
            HedgePolicy(maxExtra: extra), delay: delay, isRepeatable: isRepeatable, deadline: deadline)
        for event in events { _ = take(event, &machine) }
        return machine
    }

    private static let hedged: [Event] = [.started, .sent(1), .elapsed, .granted]

    /// How to come to each state: idle; 1 waits for a limit; 1 under way; asking; 2 waits for a limit; 1 and 2 under way;
    /// all three; asking after 1 failed; 2 under way alone, and no more hedges; ended.
    private static let states: [[Event]] = [
        [],
        [.started],
        [.started, .sent(1)],
        [.started, .sent(1), .elapsed],
        hedged,
        hedged + [.sent(2)],
        hedged + [.sent(2), .failed(2), .granted],
        [.started, .sent(1), .failed(1)],
        hedged + [.sent(2), .stopped(1)],
        [.started, .sent(1), .succeeded(1)],
    ]

    private static func at(_ milliseconds: Int) -> Machine.Action { .wait(until: .milliseconds(milliseconds)) }
    private static let wait = Machine.Action.wait(until: nil)

    private static func deliver(_ attempt: Int, _ others: [Int] = []) -> Machine.Action {
        .deliver(attempt: attempt, cancelling: others)
    }

    /// Per event, one action for each of `states`.
    private static let table: [(Event, [Machine.Action])] = [
        (.started, [.send(attempt: 1), .none, .none, .none, .none, .none, .none, .none, .none, .none]),
        (.sent(1), [.none, at(110), .none, .none, .none, .none, .none, .none, .none, .none]),
        (.sent(2), [.none, .none, .none, .none, at(120), .none, .none, .none, .none, .none]),
        (.elapsed, [.none, .none, .askBudget, .none, .none, at(120), .none, .none, .none, .none]),
        (.early, [.none, .none, at(110), .none, .none, at(120), .none, .none, .none, .none]),
        (
            .granted,
            [
                .none, .none, .none, .send(attempt: 2), .none, .none, .none, .send(attempt: 2), .none, .none,
            ]
        ),
        (.refused, [.none, .none, .none, wait, .none, .none, .none, deliver(1), .none, .none]),
        (.failed(1), [.none, .askBudget, .askBudget, .none, wait, .askBudget, wait, .none, .none, .none]),
        (.failed(2), [.none, .none, .none, .none, .askBudget, .askBudget, .none, .none, deliver(2), .none]),
        (.failed(9), [.none, .none, .none, .none, .none, .none, .none, .none, .none, .none]),
        (
            .fatal(1),
            [
                .none, deliver(1), deliver(1), deliver(1), deliver(1, [2]), deliver(1, [2]), deliver(1, [3]), .none,
                .none, .none,
            ]
        ),
        (.delayed(1), [.none, at(150), at(150), at(150), at(150), at(150), wait, .none, .none, .none]),
        (.stopped(1), [.none, deliver(1), deliver(1), deliver(1), wait, wait, wait, .none, .none, .none]),
        (
            .succeeded(1),
            [
                .none, deliver(1), deliver(1), deliver(1), deliver(1, [2]), deliver(1, [2]), deliver(1, [3]), .none,
                .none, .none,
            ]
        ),
        (.succeeded(3), [.none, .none, .none, .none, .none, .none, deliver(3, [1]), .none, .none, .none]),
        (
            .cancelled,
            [
                .cancel([]), .cancel([1]), .cancel([1]), .cancel([1]), .cancel([1, 2]), .cancel([1, 2]),
                .cancel([1, 3]), .cancel([]), .cancel([2]), .none,
            ]
        ),
    ]

    @Test(arguments: table.indices)
    func everyEventInEveryState(row: Int) throws {
        let (event, expected) = Self.table[row]
        try #require(expected.count == Self.states.count)
        for (events, action) in zip(Self.states, expected) {
            var machine = Self.machine(events)
            let state = machine.state
            let given = Self.take(event, &machine)
            #expect(given == action, "\(event) in \(state)")
            switch given {
            case .deliver, .cancel: #expect(machine.state == .ended)
            default: #expect(machine.state != .ended || state == .ended)
            }
        }
    }

    @Test func reasonsAgainstAHedge() {
        #expect(Self.machine([.started]).stop == nil)
        #expect(Self.machine([.started], isRepeatable: false).stop == .notRepeatable)
        #expect(Self.machine([.started], delay: nil).stop == .noDelay)
        #expect(Self.machine([.started], extra: 0).stop == .noDelay)
        #expect(Self.machine([.started], deadline: .milliseconds(110)).stop == nil)
        #expect(Self.machine([.started, .sent(1)], deadline: .milliseconds(110)).stop == .deadlineTooClose)
        #expect(Self.machine([.started, .sent(1)], deadline: .milliseconds(111)).stop == nil)
        #expect(Self.machine([.started, .sent(1), .elapsed, .refused]).stop == .budgetExhausted)
        #expect(Self.machine(Self.hedged, extra: 1).stop == .hedgesExhausted)
        #expect(Self.machine(Self.hedged + [.stopped(1)]).stop == .pushedBack)
        #expect(Self.machine([.started, .delayed(1)], deadline: .milliseconds(120)).stop == nil)
        var only = Self.machine([.started], isRepeatable: false)
        #expect(Self.take(.elapsed, &only) == .none)
        #expect(Self.take(.failed(1), &only) == Self.deliver(1))
    }

    @Test func aWaitThatPassesTheDeadlineEndsTheCall() {
        var machine = Self.machine([.started], deadline: .milliseconds(150))
        #expect(Self.take(.delayed(1), &machine) == Self.deliver(1))
        var late = Self.machine([.started, .sent(1)], deadline: .milliseconds(120))
        #expect(late.delayElapsed(now: .milliseconds(120)) == Self.wait)
        #expect(late.stop == .deadlineTooClose)
    }

    @Test func aPolicyIsClamped() {
        let low = HedgePolicy(delay: .fixed(.seconds(-1)), maxExtra: -1, minimumSamples: 0, window: .zero)
        #expect(low.delay == .fixed(.milliseconds(1)) && low.maxExtra == 0 && low.minimumSamples == 1)
        #expect(low.window == .seconds(1))
        let high = HedgePolicy(
            delay: .percentile(.infinity, initial: .seconds(Int64.max)), maxExtra: .max, window: .seconds(Int64.max))
        #expect(high.delay == .percentile(0.999, initial: .longestSleep) && high.maxExtra == 4)
        #expect(HedgePolicy(delay: .percentile(.nan, initial: nil)).delay == .percentile(0.95, initial: nil))
        for now in [Duration.seconds(Int64.min), .seconds(Int64.max)] {
            var machine = Machine(high, delay: .seconds(Int64.max), isRepeatable: true, deadline: .seconds(Int64.max))
            _ = machine.started()
            _ = machine.attemptSent(1, now: now)
            _ = machine.attemptFailed(1, isFatal: false, pushback: .wait(.seconds(Int64.max)), now: now)
        }
    }

    /// One answer, no attempt twice, no more attempts than allowed, a token for each hedge, no hedge of a call whose first
    /// attempt waits for a limit, and every attempt that was sent has ended or is cancelled.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func randomWalks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let extra = Int.random(in: 0...4, using: &random)
            let limit = Duration.milliseconds(Int.random(in: 1...100, using: &random))
            let deadline = Bool.random(using: &random) ? limit : nil
            let isRepeatable = Int.random(in: 0..<9, using: &random) > 0
            var machine = Self.machine(extra: extra, isRepeatable: isRepeatable, deadline: deadline)
            var now = Duration.zero
            var sent: [Int] = []
            var open: Set<Int> = []
            /// The attempts that wait for a limit.
            var queued: Set<Int> = []
            var tokens = 0
            var isEnded = false
            var timer: Duration?

            func act(_ action: Machine.Action) {
                switch action {
                case .send(let attempt):
                    #expect(!isEnded && !sent.contains(attempt) && queued.intersection(open) != [1])
                    if let deadline, attempt > 1 { #expect(now < deadline) }
                    sent.append(attempt)
                    open.insert(attempt)
                    queued.insert(attempt)
                    timer = nil
                case .wait(let next): timer = next
                case .askBudget:
                    timer = nil
                    let granted = Int.random(in: 0..<5, using: &random) > 0
                    tokens += granted ? 1 : 0
                    act(machine.budgetAnswered(granted: granted, now: now))
                case .deliver(let attempt, let others):
                    #expect(!isEnded && !open.contains(attempt) && Set(others) == open)
                    isEnded = true
                case .cancel(let others):
                    #expect(!isEnded && Set(others) == open)
                    isEnded = true
                case .none: break
                }
            }

            act(machine.started())
            for _ in 0..<40 {
                now += .milliseconds(Int.random(in: 0...8, using: &random))
                if let due = timer, now >= due, !isEnded { act(machine.delayElapsed(now: now)) }
                switch Int.random(in: 0..<8, using: &random) {
                case 0...2:
                    guard let attempt = open.randomElement(using: &random), !isEnded else { break }
                    open.remove(attempt)
                    let pushbacks: [Machine.Pushback] = [.none, .none, .wait(.milliseconds(20)), .stop]
                    act(
                        machine.attemptFailed(
                            attempt, isFatal: Int.random(in: 0..<6, using: &random) == 0,
                            pushback: pushbacks[Int.random(in: 0..<4, using: &random)], now: now))
                case 3:
                    guard let attempt = open.randomElement(using: &random), !isEnded else { break }
                    open.remove(attempt)
                    act(machine.attemptSucceeded(attempt))
                case 4: if Int.random(in: 0..<10, using: &random) == 0 { act(machine.cancelled()) }
                case 5, 6:
                    guard let attempt = queued.randomElement(using: &random), !isEnded else { break }
                    queued.remove(attempt)
                    act(machine.attemptSent(attempt, now: now))
                default: break
                }
                // A call that has not ended waits for something.
                #expect(isEnded || !open.isEmpty || timer != nil)
            }
            #expect(sent.count <= extra + 1 && sent.count - 1 <= tokens)
            #expect(isEnded == (machine.state == .ended))
        }
    }
}
