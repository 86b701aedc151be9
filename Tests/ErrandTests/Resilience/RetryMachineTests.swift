import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandResilience

private typealias Machine = RetryMachine

@Suite struct RetryMachineTests {
    /// No jitter that matters: a random number of 1 gives 100 ms, 200 ms, ...
    private static let policy = RetryPolicy(backoff: RetryBackoff(base: .milliseconds(100), cap: .seconds(1)))
    private static let repeatable = RetrySubject(isRepeatable: true)
    private static let unavailable = Machine.Ending.answer(status: 503, fields: [:])

    private enum Event: Sendable {
        case started, succeeded, failed, granted, refused, elapsed, early, cancelled
    }

    /// How to come to each state, at which the clock reads one second.
    private static let states: [[Event]] = [
        [],
        [.started],
        [.started, .failed],
        [.started, .failed, .granted],
        [.started, .failed, .granted, .elapsed, .failed, .granted, .elapsed],
        [.started, .succeeded],
    ]

    private static func take(_ event: Event, _ machine: inout Machine, now: Duration = .seconds(1)) -> Machine.Action {
        switch event {
        case .started: machine.started(now: now)
        case .succeeded:
            machine.attemptEnded(
                .answer(status: 200, fields: [:]), isDelivered: false, bodyIsReplayable: true, now: now, random: 1)
        case .failed:
            machine.attemptEnded(unavailable, isDelivered: false, bodyIsReplayable: true, now: now, random: 1)
        case .granted: machine.budgetAnswered(granted: true, now: now)
        case .refused: machine.budgetAnswered(granted: false, now: now)
        case .elapsed: machine.waitElapsed(now: now + .seconds(1))
        case .early: machine.waitElapsed(now: now + .milliseconds(99))
        case .cancelled: machine.cancelled()
        }
    }

    private static func first(_ attempt: Int) -> Machine.Action { .send(attempt: attempt, timeout: nil) }

    /// Per event, one action for each of `states`.
    private static let table: [(Event, [Machine.Action])] = [
        (.started, [first(1), .none, .none, .none, .none, .none]),
        (.succeeded, [.none, .stop(.answered), .none, .none, .stop(.answered), .none]),
        (.failed, [.none, .askBudget, .none, .none, .stop(.attemptsExhausted), .none]),
        (
            .granted,
            [.none, .none, .wait(until: .milliseconds(1100), cause: .status(503)), .none, .none, .none]
        ),
        (.refused, [.none, .none, .stop(.budgetExhausted), .none, .none, .none]),
        (.elapsed, [.none, .none, .none, first(2), .none, .none]),
        (
            .early,
            [.none, .none, .none, .wait(until: .milliseconds(1100), cause: .status(503)), .none, .none]
        ),
        (
            .cancelled,
            [
                .stop(.cancelled), .stop(.cancelled), .stop(.cancelled), .stop(.cancelled), .stop(.cancelled), .none,
            ]
        ),
    ]

    @Test(arguments: table.indices)
    func everyEventInEveryState(row: Int) throws {
        let (event, expected) = Self.table[row]
        try #require(expected.count == Self.states.count)
        for (events, action) in zip(Self.states, expected) {
            var machine = Machine(Self.policy, Self.repeatable)
            for event in events { _ = Self.take(event, &machine) }
            let state = machine.state
            let given = Self.take(event, &machine)
            #expect(given == action, "\(event) in \(state)")
            if given == .none { #expect(machine.state == state) }
            if case .stop(let reason) = given { #expect(machine.state == .ended(reason)) }
        }
    }

    /// The first attempt's ending, and the action after it.
    private static func decision(
        _ ending: Machine.Ending, policy: RetryPolicy = policy, isRepeatable: Bool = true, isDelivered: Bool = false,
        bodyIsReplayable: Bool = true, deadline: Duration? = nil, now: Duration = .zero
    ) -> Machine.Action {
        var machine = Machine(policy, RetrySubject(isRepeatable: isRepeatable), deadline: deadline)
        _ = machine.started(now: .zero)
        return machine.attemptEnded(
            ending, isDelivered: isDelivered, bodyIsReplayable: bodyIsReplayable, now: now, random: 1)
    }

    @Test(arguments: 100...599)
    func statuses(status: Int) {
        let ending = Machine.Ending.answer(status: status, fields: [:])
        let retries = [408, 429, 502, 503, 504].contains(status)
        #expect(Self.decision(ending) == (retries ? .askBudget : .stop(.answered)))
        #expect(Self.decision(ending, isRepeatable: false) == .stop(retries ? .notIdempotent : .answered))
        let all = RetryPolicy(statusCodes: [500])
        #expect(Self.decision(ending, policy: all) == (status == 500 ? .askBudget : .stop(.answered)))
    }

    @Test func reasonsAgainstARetry() {
        #expect(Self.decision(.failure(.connectFailed)) == .askBudget)
        #expect(Self.decision(.failure(.connectFailed), isRepeatable: false) == .askBudget)
        #expect(Self.decision(.failure(.connectionLost), isRepeatable: false) == .stop(.notIdempotent))
        #expect(Self.decision(.failure(.timeoutIdle), isRepeatable: false) == .stop(.notIdempotent))
        #expect(Self.decision(.failure(.timeoutIdle)) == .askBudget)
        #expect(Self.decision(.failure(.malformedResponse)) == .stop(.permanentFailure))
        #expect(Self.decision(.failure(.tlsUntrusted)) == .stop(.permanentFailure))
        #expect(Self.decision(.failure(.outOfDescriptors.refused)) == .stop(.permanentFailure))
        #expect(Self.decision(.failure(.cancelled)) == .stop(.cancelled))
        #expect(Self.decision(.failure(.partialBody), isDelivered: true) == .stop(.answerDelivered))
        #expect(Self.decision(Self.unavailable, bodyIsReplayable: false) == .stop(.bodyNotReplayable))
        #expect(Self.decision(.failure(.connectFailed), policy: .never) == .stop(.attemptsExhausted))
        let choosy = RetryPolicy(failures: [.malformedResponse])
        #expect(Self.decision(.failure(.malformedResponse), policy: choosy) == .askBudget)
        #expect(Self.decision(.failure(.connectFailed), policy: choosy) == .stop(.permanentFailure))
        let unlike = RetryPolicy(excludedErrors: [.connectFailed])
        #expect(Self.decision(.failure(.connectFailed), policy: unlike) == .stop(.permanentFailure))
        #expect(Self.decision(.failure(.resolveFailed), policy: unlike) == .askBudget)
    }

    @Test(
        arguments: [
            ("0", .milliseconds(100)), ("7", .milliseconds(7100)), ("60", .milliseconds(60_100)), ("61", nil),
            ("99999999999999999999", nil), ("soon", .milliseconds(100)), ("-1", .milliseconds(100)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", .milliseconds(10_100)),
            ("Sun, 06 Nov 1994 08:39:47 GMT", .milliseconds(100)), ("Sun, 06 Nov 1994 09:49:37 GMT", nil),
        ] as [(String, Duration?)])
    func retryAfter(value: String, wait: Duration?) {
        let fields: HTTPFields = [.date: "Sun, 06 Nov 1994 08:49:37 GMT", .retryAfter: value]
        var machine = Machine(Self.policy, Self.repeatable)
        _ = machine.started(now: .zero)
        let action = machine.attemptEnded(
            .answer(status: 429, fields: fields), isDelivered: false, bodyIsReplayable: true, now: .zero, random: 1)
        guard let wait else { return #expect(action == .stop(.retryAfterTooLong)) }
        #expect(action == .askBudget)
        #expect(machine.budgetAnswered(granted: true, now: .zero) == .wait(until: wait, cause: .status(429)))
        let deaf = RetryPolicy(backoff: .none, retryAfterCap: nil)
        #expect(Self.decision(.answer(status: 429, fields: fields), policy: deaf) == .askBudget)
    }

    @Test func transfersAreEndings() {
        func attempt(_ response: Response?, _ error: ErrandError?) -> Machine.Ending {
            Machine.Ending(Attempt(number: 1, url: "http://a.test", response: response, error: error), Self.policy)
        }
        let busy = Response(statusCode: 503, headers: [.retryAfter: "61"])
        #expect(Self.decision(attempt(Response(statusCode: 200), nil)) == .stop(.answered))
        #expect(Self.decision(attempt(Response(statusCode: 503), nil)) == .askBudget)
        #expect(Self.decision(attempt(busy, nil)) == .stop(.retryAfterTooLong))
        // The head came, and the body broke.
        #expect(Self.decision(attempt(busy, .partialBody.with(response: busy))) == .stop(.retryAfterTooLong))
        #expect(Self.decision(attempt(nil, .connectionLost)) == .askBudget)
        #expect(Self.decision(attempt(nil, nil)) == .stop(.permanentFailure))
    }

    @Test func aWaitHasToEndBeforeTheDeadline() {
        #expect(Self.decision(Self.unavailable, deadline: .milliseconds(101)) == .askBudget)
        #expect(Self.decision(Self.unavailable, deadline: .milliseconds(100)) == .stop(.deadlineTooClose))
        #expect(
            Self.decision(Self.unavailable, deadline: .seconds(1), now: .milliseconds(950)) == .stop(.deadlineTooClose))
        let fields: HTTPFields = [.retryAfter: "5"]
        #expect(
            Self.decision(.answer(status: 503, fields: fields), deadline: .seconds(5)) == .stop(.deadlineTooClose))
        var late = Machine(Self.policy, Self.repeatable, deadline: .seconds(1))
        #expect(late.started(now: .seconds(1)) == .stop(.deadlineTooClose))
    }

    /// `curl --retry-max-time`: counted from the start of the call; an attempt that has begun is not cut.
    @Test func retriesBeginWithinTheirTime() {
        func decision(after time: Duration, _ ending: Machine.Ending = Self.unavailable) -> Machine.Action {
            var machine = Machine(
                RetryPolicy(backoff: RetryBackoff(base: .milliseconds(100)), maxRetryTime: .seconds(1)),
                Self.repeatable)
            #expect(machine.started(now: .seconds(7)) == .send(attempt: 1, timeout: nil))
            return machine.attemptEnded(
                ending, isDelivered: false, bodyIsReplayable: true, now: .seconds(7) + time, random: 1)
        }
        #expect(decision(after: .milliseconds(900)) == .askBudget)
        #expect(decision(after: .milliseconds(901)) == .stop(.retryTimeOver))
        #expect(decision(after: .seconds(70)) == .stop(.retryTimeOver))
        #expect(decision(after: .zero, .answer(status: 503, fields: [.retryAfter: "2"])) == .stop(.retryTimeOver))
        // The budget was asked for a while.
        var slow = Machine(
            RetryPolicy(backoff: RetryBackoff(base: .milliseconds(100)), maxRetryTime: .seconds(1)), Self.repeatable)
        _ = slow.started(now: .zero)
        _ = Self.take(.failed, &slow, now: .milliseconds(900))
        #expect(slow.budgetAnswered(granted: true, now: .milliseconds(901)) == .stop(.retryTimeOver))
        #expect(RetryPolicy(maxRetryTime: .seconds(-1)).maxRetryTime == .zero)
        #expect(Self.decision(Self.unavailable, policy: RetryPolicy(maxRetryTime: .zero)) == .stop(.retryTimeOver))
    }

    @Test func anAttemptGetsTheShorterTime() {
        let policy = RetryPolicy(attemptTimeout: .seconds(2))
        var machine = Machine(policy, Self.repeatable, deadline: .seconds(3))
        #expect(machine.started(now: .zero) == .send(attempt: 1, timeout: .seconds(2)))
        _ = Self.take(.failed, &machine, now: .seconds(2))
        _ = Self.take(.granted, &machine, now: .seconds(2))
        #expect(machine.waitElapsed(now: .milliseconds(2600)) == .send(attempt: 2, timeout: .milliseconds(400)))
        var late = Machine(policy, Self.repeatable, deadline: .seconds(3))
        _ = late.started(now: .zero)
        _ = Self.take(.failed, &late, now: .seconds(2))
        _ = Self.take(.granted, &late, now: .seconds(2))
        #expect(late.waitElapsed(now: .seconds(3)) == .stop(.deadlineTooClose))
    }

    @Test func extremeTimesDoNotTrap() {
        let endless = RetryPolicy(maxRetryTime: .seconds(Int64.max))
        for now in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
            for deadline in [Duration.seconds(Int64.max), .seconds(Int64.min)] {
                var machine = Machine(endless, Self.repeatable, deadline: deadline)
                _ = machine.started(now: now)
                _ = Self.take(.failed, &machine, now: now)
                _ = machine.budgetAnswered(granted: true, now: now)
                _ = machine.waitElapsed(now: now)
            }
        }
    }

    /// A call ends once, makes no more attempts than allowed, pays for each retry, and never waits past its deadline.
    @Test(arguments: 0..<20)
    func randomWalks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let policy = RetryPolicy(
                maxAttempts: .random(in: 1...6, using: &random),
                backoff: RetryBackoff(
                    base: .milliseconds(Int.random(in: 0...500, using: &random)), cap: .seconds(2),
                    jitter: [0, 0.3, 1].randomElement(using: &random) ?? 1),
                maxRetryTime: Bool.random(using: &random) ? .seconds(2) : nil)
            let limit = Duration.milliseconds(Int.random(in: 0...5000, using: &random))
            let deadline = Bool.random(using: &random) ? limit : nil
            var machine = Machine(policy, Self.repeatable, deadline: deadline)
            var now = Duration.zero
            var sent = 0
            var tokens = 0
            var stops = 0
            var action = machine.started(now: now)
            for _ in 0..<60 {
                switch action {
                case .send(let attempt, let timeout):
                    sent += 1
                    #expect(attempt == sent && stops == 0)
                    #expect(deadline.map { now + (timeout ?? .seconds(9)) <= $0 } ?? (timeout == nil))
                case .askBudget: #expect(stops == 0)
                case .wait(let until, _):
                    #expect(until >= now && until - now <= policy.backoff.ceiling(retry: sent))
                    if let deadline { #expect(until < deadline) }
                    if let time = policy.maxRetryTime { #expect(until <= time) }
                case .stop: stops += 1
                case .none: break
                }
                now += .milliseconds(Int.random(in: 0...400, using: &random))
                switch Int.random(in: 0..<10, using: &random) {
                case 0...4:
                    let succeeds = Int.random(in: 0..<9, using: &random) == 0
                    action = machine.attemptEnded(
                        succeeds ? .answer(status: 204, fields: [:]) : .failure(.connectionLost), isDelivered: false,
                        bodyIsReplayable: true, now: now, random: .random(in: 0...1, using: &random))
                case 5...6:
                    let granted = Int.random(in: 0..<5, using: &random) > 0
                    if granted, case .askingBudget = machine.state { tokens += 1 }
                    action = machine.budgetAnswered(granted: granted, now: now)
                case 7...8: action = machine.waitElapsed(now: now)
                default: action = Int.random(in: 0..<9, using: &random) == 0 ? machine.cancelled() : .none
                }
            }
            // The last action was not looked at.
            if case .stop = action { stops += 1 }
            #expect(sent <= policy.maxAttempts && sent - 1 <= tokens)
            #expect(stops == { if case .ended = machine.state { 1 } else { 0 } }())
        }
    }
}
