import Errand
import ErrandTesting
import Testing

@testable import ErrandAuthentication

private typealias Machine = CredentialStateMachine<String, Int>

/// A state in words, to be compared.
private func words(_ machine: borrowing Machine) -> String {
    switch machine.state {
    case .usable(let credential): "\(machine.generation) usable \(credential)"
    case .due(let credential, let failure):
        "\(machine.generation) due \(credential ?? "-")" + (failure.map { " \($0.shortDescription)" } ?? "")
    case .withdrawn: "\(machine.generation) withdrawn"
    case .refreshing(let credential, let waiters):
        "\(machine.generation) refreshing \(credential ?? "-") for \(waiters.values.sorted())"
    }
}

private func words(_ settlement: Machine.Settlement) -> String {
    switch settlement.outcome {
    case .success(let issue): return "\(settlement.waiters) get \(issue.credential) \(issue.generation)"
    case .failure(let error): return "\(settlement.waiters) fail \(error.shortDescription)"
    }
}

private func words(_ action: Machine.Action?) -> String {
    switch action {
    case nil: "nobody"
    case .wait?: "wait"
    case .refresh(let order)?: "refresh \(order.credential ?? "-") as \(order.flight)"
    case .settle(let settlement)?: words(settlement)
    }
}

private enum Event: Sendable {
    case awaited(Int, refused: UInt64?)
    case left(Int)
    case succeeded(flight: UInt64, String)
    case failed(flight: UInt64)
    case set(String?)
    case invalidated
}

extension CredentialStateMachine<String, Int> {
    fileprivate mutating func take(_ event: Event) -> String {
        switch event {
        case .awaited(let waiter, let refused):
            return words(credentialAwaited(by: UInt64(waiter), waiter, refused: refused))
        case .left(let waiter): return waiterLeft(UInt64(waiter)).map { "tell \($0)" } ?? "nobody"
        case .succeeded(let flight, let credential): return words(refreshEnded(flight, .success(credential)))
        case .failed(let flight): return words(refreshEnded(flight, .failure(.authenticationFailed)))
        case .set(let credential):
            return words(credentialSet(credential, otherwise: .cancelled).map { Machine.Action.settle($0) })
        case .invalidated:
            invalidated()
            return "-"
        }
    }
}

@Suite struct CredentialStateMachineTests {
    /// How to come to each state.
    private static let states: [(String, start: String?, [Event])] = [
        ("0 due -", nil, []),
        ("0 usable a", "a", []),
        ("0 due a", "a", [.invalidated]),
        ("0 refreshing a for [1, 2]", "a", [.awaited(1, refused: 0), .awaited(2, refused: 0)]),
        ("0 refreshing - for [1]", nil, [.awaited(1, refused: nil)]),
        ("1 usable b", "a", [.awaited(1, refused: 0), .succeeded(flight: 0, "b")]),
        ("1 due a authenticationFailed", "a", [.awaited(1, refused: 0), .failed(flight: 0)]),
        // The refresh that was overtaken has not ended.
        ("1 usable n", "a", [.awaited(1, refused: 0), .set("n")]),
        ("1 refreshing n for [2]", "a", [.awaited(1, refused: 0), .set("n"), .awaited(2, refused: 1)]),
    ]

    /// Per event, one answer and one state for each of `states`.
    private static let table: [(Event, [(String, String)])] = [
        (
            .awaited(9, refused: nil),
            [
                ("refresh - as 0", "0 refreshing - for [9]"),
                ("[9] get a 0", "0 usable a"),
                ("refresh a as 0", "0 refreshing a for [9]"),
                ("wait", "0 refreshing a for [1, 2, 9]"),
                ("wait", "0 refreshing - for [1, 9]"),
                ("[9] get b 1", "1 usable b"),
                ("refresh a as 1", "1 refreshing a for [9]"),
                ("[9] get n 1", "1 usable n"),
                ("wait", "1 refreshing n for [2, 9]"),
            ]
        ),
        (
            .awaited(9, refused: 0),
            [
                ("refresh - as 0", "0 refreshing - for [9]"),
                ("refresh a as 0", "0 refreshing a for [9]"),
                ("refresh a as 0", "0 refreshing a for [9]"),
                ("wait", "0 refreshing a for [1, 2, 9]"),
                ("wait", "0 refreshing - for [1, 9]"),
                ("[9] get b 1", "1 usable b"),
                ("[9] fail authenticationFailed", "1 due a authenticationFailed"),
                ("[9] get n 1", "1 usable n"),
                ("wait", "1 refreshing n for [2, 9]"),
            ]
        ),
        (
            .left(1),
            [
                ("nobody", "0 due -"), ("nobody", "0 usable a"), ("nobody", "0 due a"),
                ("tell 1", "0 refreshing a for [2]"), ("tell 1", "0 refreshing - for []"), ("nobody", "1 usable b"),
                ("nobody", "1 due a authenticationFailed"), ("nobody", "1 usable n"),
                ("nobody", "1 refreshing n for [2]"),
            ]
        ),
        (
            .succeeded(flight: 0, "c"),
            [
                ("nobody", "0 due -"), ("nobody", "0 usable a"), ("nobody", "0 due a"),
                ("[1, 2] get c 1", "1 usable c"), ("[1] get c 1", "1 usable c"), ("nobody", "1 usable b"),
                ("nobody", "1 due a authenticationFailed"), ("nobody", "1 usable n"),
                ("refresh n as 1", "1 refreshing n for [2]"),
            ]
        ),
        (
            .failed(flight: 0),
            [
                ("nobody", "0 due -"), ("nobody", "0 usable a"), ("nobody", "0 due a"),
                ("[1, 2] fail authenticationFailed", "1 due a authenticationFailed"),
                ("[1] fail authenticationFailed", "1 due - authenticationFailed"), ("nobody", "1 usable b"),
                ("nobody", "1 due a authenticationFailed"), ("nobody", "1 usable n"),
                ("refresh n as 1", "1 refreshing n for [2]"),
            ]
        ),
        (
            .set("n"),
            [
                ("nobody", "1 usable n"), ("nobody", "1 usable n"), ("nobody", "1 usable n"),
                ("[1, 2] get n 1", "1 usable n"), ("[1] get n 1", "1 usable n"), ("nobody", "2 usable n"),
                ("nobody", "2 usable n"), ("nobody", "2 usable n"), ("[2] get n 2", "2 usable n"),
            ]
        ),
        (
            .set(nil),
            [
                ("nobody", "1 withdrawn"), ("nobody", "1 withdrawn"), ("nobody", "1 withdrawn"),
                ("[1, 2] fail cancelled", "1 withdrawn"), ("[1] fail cancelled", "1 withdrawn"),
                ("nobody", "2 withdrawn"), ("nobody", "2 withdrawn"), ("nobody", "2 withdrawn"),
                ("[2] fail cancelled", "2 withdrawn"),
            ]
        ),
        (
            .invalidated,
            [
                ("-", "0 due -"), ("-", "0 due a"), ("-", "0 due a"), ("-", "0 refreshing a for [1, 2]"),
                ("-", "0 refreshing - for [1]"), ("-", "1 due b"), ("-", "1 due a authenticationFailed"),
                ("-", "1 due n"), ("-", "1 refreshing n for [2]"),
            ]
        ),
    ]

    @Test(arguments: table.indices)
    func everyEventInEveryState(row: Int) throws {
        let (event, expected) = Self.table[row]
        try #require(expected.count == Self.states.count)
        for ((name, start, events), (answer, state)) in zip(Self.states, expected) {
            var machine = Machine(start)
            for event in events { _ = machine.take(event) }
            let before = words(machine)
            #expect(before == name)
            let given = machine.take(event)
            let after = words(machine)
            #expect(given == answer, "\(event) in \(name)")
            #expect(after == state, "\(event) in \(name)")
        }
    }

    @Test func whatARefreshThatWasOvertakenBringsIsIgnored() {
        var machine = Machine("a")
        #expect(machine.take(.awaited(1, refused: 0)) == "refresh a as 0")
        #expect(machine.take(.set(nil)) == "[1] fail cancelled")
        #expect(machine.take(.invalidated) == "-")
        // Never two at a time.
        #expect(machine.take(.awaited(2, refused: nil)) == "wait")
        #expect(machine.underWay == 0)
        #expect(machine.take(.succeeded(flight: 0, "late")) == "refresh - as 1")
        #expect(machine.take(.succeeded(flight: 0, "later")) == "nobody")
        #expect(machine.underWay == 1)
        #expect(machine.take(.succeeded(flight: 1, "new")) == "[2] get new 2")
        #expect(machine.underWay == nil)
    }

    /// One that was put off may be overtaken as well, and the next one has its own reasons.
    @Test func whatWasPutOffIsBegunForTheLastReason() {
        func occasion(_ status: Int, _ scope: Set<ObjectIdentifier> = []) -> Machine.Occasion {
            Machine.Occasion(response: Response(statusCode: status), scope: scope)
        }
        var machine = Machine("a")
        let first = machine.credentialAwaited(by: 1, 1, refused: 0, occasion(401))
        guard case .refresh(let order) = first else { return #expect(Bool(false), "\(words(first))") }
        #expect(order.occasion.response?.statusCode == 401)
        _ = machine.credentialSet("b", otherwise: .cancelled)
        _ = machine.credentialAwaited(by: 2, 2, refused: 1, occasion(402))
        _ = machine.credentialSet("c", otherwise: .cancelled)
        let scope: Set = [ObjectIdentifier(String.self)]
        _ = machine.credentialAwaited(by: 3, 3, refused: 2, occasion(403, scope))
        _ = machine.credentialAwaited(by: 4, 4, refused: 2, occasion(404))
        let next = machine.refreshEnded(0, .failure(.cancelled))
        guard case .refresh(let later)? = next else { return #expect(Bool(false), "\(words(next))") }
        #expect(later.flight == 2 && later.credential == "c")
        #expect(later.occasion.response?.statusCode == 403)
        #expect(later.occasion.scope == scope)
        #expect(machine.take(.succeeded(flight: 2, "d")) == "[3, 4] get d 3")
    }

    /// Otherwise a client that is shut down would have its token renewed.
    @Test func whatWasPutOffIsNotBegunForNobody() {
        var machine = Machine("a")
        #expect(machine.take(.awaited(1, refused: 0)) == "refresh a as 0")
        #expect(machine.take(.set("n")) == "[1] get n 1")
        #expect(machine.take(.awaited(2, refused: 1)) == "wait")
        #expect(machine.take(.left(2)) == "tell 2")
        #expect(machine.take(.failed(flight: 0)) == "nobody")
        #expect(machine.underWay == nil)
        let after = words(machine)
        #expect(after == "1 due n")
        #expect(machine.take(.awaited(3, refused: 1)) == "refresh n as 1")
        #expect(machine.take(.succeeded(flight: 1, "b")) == "[3] get b 2")
    }

    /// Nobody is logged in again by a request.
    @Test func whatWasTakenAwayIsNotRefreshed() {
        var machine = Machine("a")
        #expect(machine.take(.set(nil)) == "nobody")
        #expect(machine.take(.awaited(1, refused: nil)) == "[1] fail cancelled")
        #expect(machine.take(.awaited(2, refused: 0)) == "[2] fail cancelled")
        #expect(machine.take(.left(2)) == "nobody")
        #expect(machine.take(.invalidated) == "-")
        #expect(machine.take(.awaited(3, refused: nil)) == "refresh - as 1")
        #expect(machine.take(.succeeded(flight: 1, "b")) == "[3] get b 2")
    }

    @Test func whatMayBeReadOutside() {
        var machine = Machine("a")
        #expect(machine.issue?.credential == "a")
        _ = machine.take(.awaited(1, refused: 0))
        #expect(machine.issue == nil)
        #expect(machine.credential == "a")
        _ = machine.take(.failed(flight: 0))
        #expect(machine.issue == nil)
        #expect(machine.credential == "a")
        _ = machine.take(.set(nil))
        #expect(machine.credential == nil)
    }

    /// Every waiter is told once, and told a credential newer than the one it refuses; at most one refresh at a time;
    /// generations only grow.
    @Test(arguments: 0..<20)
    func randomWalks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var machine = Machine(Bool.random(using: &random) ? "0" : nil)
        var waiting: [Int: UInt64?] = [:]
        var flights: [UInt64] = []
        var underWay: UInt64?
        var lastWaiter = 0
        var lastGeneration: UInt64 = 0

        func begin(_ order: Machine.Order) {
            #expect(underWay == nil)
            #expect(!flights.contains(order.flight))
            flights.append(order.flight)
            underWay = order.flight
        }

        func check(_ settlement: Machine.Settlement?) {
            guard let settlement else { return }
            for waiter in settlement.waiters {
                guard let refused = waiting.removeValue(forKey: waiter) else {
                    Issue.record("\(waiter) was told twice, or never waited")
                    continue
                }
                guard case .success(let issue) = settlement.outcome, let refused else { continue }
                #expect(issue.generation > refused)
            }
        }

        for _ in 0..<5000 {
            var isRefreshing = false
            if case .refreshing = machine.state { isRefreshing = true }
            switch Int.random(in: 0..<12, using: &random) {
            case 0...4:
                lastWaiter += 1
                let refused =
                    Bool.random(using: &random) ? UInt64.random(in: 0...machine.generation, using: &random) : nil
                waiting[lastWaiter] = refused
                switch machine.credentialAwaited(by: UInt64(lastWaiter), lastWaiter, refused: refused) {
                case .wait: #expect(isRefreshing || underWay != nil)
                case .refresh(let order):
                    #expect(!isRefreshing)
                    begin(order)
                case .settle(let settlement):
                    #expect(!isRefreshing)
                    check(settlement)
                }
            case 5...6:
                guard let waiter = waiting.keys.randomElement(using: &random) else { break }
                #expect(machine.waiterLeft(UInt64(waiter)) == waiter)
                waiting[waiter] = nil
                #expect(machine.waiterLeft(UInt64(waiter)) == nil)
            case 7...9:
                guard let flight = flights.randomElement(using: &random) else { break }
                let isPresent = isRefreshing && flight == machine.generation
                let isFirstEnd = flight == underWay
                if isFirstEnd { underWay = nil }
                let succeeds = Bool.random(using: &random)
                let action = machine.refreshEnded(
                    flight, succeeds ? .success("\(flight)") : .failure(.authenticationFailed))
                switch action {
                case nil: break
                case .wait?: Issue.record("an end is nothing to wait after")
                case .refresh(let order)?:
                    #expect(isFirstEnd && isRefreshing && !isPresent)
                    begin(order)
                case .settle(let settlement)?:
                    #expect(isPresent)
                    check(settlement)
                }
            case 10:
                check(machine.credentialSet(Bool.random(using: &random) ? "set" : nil, otherwise: .cancelled))
            default:
                machine.invalidated()
            }
            // Whoever waits does so for a refresh that is under way, if only for its end.
            #expect(machine.underWay == underWay)
            if case .refreshing(_, let waiters) = machine.state {
                #expect(Set(waiters.values) == Set(waiting.keys))
                #expect(underWay != nil)
            } else {
                #expect(waiting.isEmpty)
            }
            #expect(machine.generation >= lastGeneration)
            lastGeneration = machine.generation
        }
    }
}
