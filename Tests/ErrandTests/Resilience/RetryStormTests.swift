import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

/// A hundred clients call a service that dies and comes back. The service collapses under load: above its capacity the
/// share of good answers falls with the square of the load. Without a budget retries hold it down after it is back.
@Suite struct RetryStormTests {
    private struct Client {
        var budget = RetryBudgetMachine(RetryBudget.Policy())
    }

    private struct Call {
        let client: Int
        var machine: RetryMachine
    }

    private struct Second {
        var begun = 0
        var offered = 0
        var succeeded = 0
    }

    /// 100 clients with 10 requests a second each, in ticks of a tenth of a second. The service is dead from second 20
    /// to second 40.
    private struct Simulation {
        static let seconds = 80
        static let dead = 20..<40
        static let capacity = 130.0
        private let hasBudget: Bool
        private var random: SeededGenerator
        private var clients = [Client](repeating: Client(), count: 100)
        private var due = [[Call]](repeating: [], count: seconds * 10)
        private(set) var history = [Second](repeating: Second(), count: seconds)

        init(seed: UInt64, hasBudget: Bool) {
            random = SeededGenerator(seed: seed)
            self.hasBudget = hasBudget
            for tick in 0..<Self.seconds * 10 { run(tick) }
        }

        private mutating func run(_ tick: Int) {
            let now = Duration.milliseconds(tick * 100)
            let second = tick / 10
            let policy = RetryPolicy(
                maxAttempts: 4, backoff: RetryBackoff(base: .milliseconds(100), cap: .seconds(1)))
            var calls: [Call] = []
            for var call in due[tick] {
                guard case .send = call.machine.waitElapsed(now: now) else {
                    Issue.record("a retry was not sent")
                    continue
                }
                calls.append(call)
            }
            for client in clients.indices {
                for _ in 0..<2 where Bool.random(using: &random) {
                    var machine = RetryMachine(policy, RetrySubject(isRepeatable: true))
                    _ = machine.started(now: now)
                    clients[client].budget.deposited(now: now)
                    history[second].begun += 1
                    calls.append(Call(client: client, machine: machine))
                }
            }
            history[second].offered += calls.count
            let share = min(1, Self.capacity / Double(max(calls.count, 1)))
            for call in calls {
                let succeeds = !Self.dead.contains(second) && Double.random(in: 0..<1, using: &random) < share * share
                end(call, succeeds, tick)
            }
        }

        private mutating func end(_ call: Call, _ succeeds: Bool, _ tick: Int) {
            var call = call
            let now = Duration.milliseconds(tick * 100)
            if succeeds { history[tick / 10].succeeded += 1 }
            let action = call.machine.attemptEnded(
                .answer(status: succeeds ? 200 : 503, fields: [:]), isDelivered: false, bodyIsReplayable: true,
                now: now, random: .random(in: 0...1, using: &random))
            guard action == .askBudget else { return }
            let granted = !hasBudget || clients[call.client].budget.withdrawalWanted(now: now)
            guard case .wait(let until, _) = call.machine.budgetAnswered(granted: granted, now: now) else { return }
            let next = max(tick + 1, Int((until / .milliseconds(100)).rounded(.up)))
            if next < due.count { due[next].append(call) }
        }

        func sum(_ seconds: Range<Int>, _ member: KeyPath<Second, Int>) -> Double {
            Double(history[seconds].reduce(0) { $0 + $1[keyPath: member] })
        }
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func aBudgetLetsTheServiceComeBack(seed: UInt64) {
        let run = Simulation(seed: seed, hasBudget: true)
        for start in 0...(Simulation.seconds - 10) {
            let window = start..<start + 10
            // The floor is 1/s for each of 100 clients. Waits of up to a second move sends into the window.
            let bound = run.sum(window, \.begun) * 1.1 + 1000
            #expect(run.sum(window, \.offered) <= bound * 1.02, "\(window)")
        }
        #expect(run.sum(30..<40, \.offered) > run.sum(30..<40, \.begun) * 1.1)
        #expect(run.sum(30..<40, \.succeeded) == 0)
        // Good again within seconds, and for the rest of the time.
        #expect(run.sum(43..<80, \.succeeded) >= run.sum(43..<80, \.begun) * 0.98)
    }

    /// The contrast: the simulated service does stay down under unlimited retries.
    @Test func withoutABudgetTheServiceStaysDown() {
        let run = Simulation(seed: 1, hasBudget: false)
        #expect(run.sum(30..<40, \.offered) > run.sum(30..<40, \.begun) * 3)
        #expect(run.sum(70..<80, \.offered) > run.sum(70..<80, \.begun) * 2)
        #expect(run.sum(70..<80, \.succeeded) < run.sum(70..<80, \.begun) * 0.8)
    }
}
