import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

@Suite struct RetryBudgetTests {
    private func policy(_ ratio: Double, _ floor: Double, _ seconds: Int = 10) -> RetryBudget.Policy {
        RetryBudget.Policy(ratio: ratio, floorPerSecond: floor, window: .seconds(seconds))
    }

    @Test func numbersOutOfRangeAreClamped() {
        let low = RetryBudget.Policy(ratio: -1, floorPerSecond: -.infinity, window: .zero)
        #expect(low.ratio == 0 && low.floorPerSecond == 0 && low.window == .milliseconds(100))
        let high = RetryBudget.Policy(ratio: .infinity, floorPerSecond: .infinity, window: .seconds(Int64.max))
        #expect(high.ratio == 10 && high.floorPerSecond == 1_000_000 && high.window == .seconds(3600))
        let unknown = RetryBudget.Policy(ratio: .nan, floorPerSecond: .nan)
        #expect(unknown == RetryBudget.Policy())
        var machine = RetryBudgetMachine(high)
        for now in [Duration.seconds(Int64.min), .zero, .seconds(Int64.max), .zero] {
            machine.deposited(now: now)
            #expect(machine.withdrawalWanted(now: now) == true)
        }
    }

    @Test func tenRequestsPayForOneRetry() {
        var machine = RetryBudgetMachine(policy(0.1, 0))
        for round in 1...50 {
            for _ in 0..<9 { machine.deposited(now: .zero) }
            #expect(machine.withdrawalWanted(now: .zero) == false, "\(round)")
            machine.deposited(now: .zero)
            #expect(machine.withdrawalWanted(now: .zero) == true, "\(round)")
        }
        #expect(machine.counts.deposits == 500)
        #expect(machine.counts.withdrawals == 50)
        #expect(machine.counts.refusals == 50)
    }

    @Test func depositsDoNotOutliveTheWindow() {
        var machine = RetryBudgetMachine(policy(1, 0))
        for _ in 0..<5 { machine.deposited(now: .seconds(100)) }
        #expect(machine.available(now: .milliseconds(109_999)) == 5)
        #expect(machine.available(now: .seconds(110)) == 0)
        #expect(machine.withdrawalWanted(now: .seconds(110)) == false)
    }

    @Test func theFloorComesBackWithTheWindow() {
        var machine = RetryBudgetMachine(policy(0, 0.5))
        #expect((0..<20).count { _ in machine.withdrawalWanted(now: .seconds(3)) } == 5)
        #expect((0..<20).count { _ in machine.withdrawalWanted(now: .seconds(12)) } == 0)
        #expect((0..<20).count { _ in machine.withdrawalWanted(now: .seconds(13)) } == 5)
    }

    @Test func aTokenThatWasGivenBackIsUsedAgain() {
        var machine = RetryBudgetMachine(policy(0, 0.1))
        machine.givenBack(now: .zero)
        #expect(machine.available(now: .zero) == 1)
        #expect(machine.withdrawalWanted(now: .zero) == true)
        #expect(machine.withdrawalWanted(now: .seconds(1)) == false)
        machine.givenBack(now: .seconds(2))
        #expect(machine.counts.withdrawals == 0)
        #expect(machine.withdrawalWanted(now: .seconds(2)) == true)
    }

    @Test func aDryRunCountsOnly() {
        var machine = RetryBudgetMachine(RetryBudget.Policy(ratio: 0, floorPerSecond: 0.1, isDryRun: true))
        for _ in 0..<4 { #expect(machine.withdrawalWanted(now: .zero) == true) }
        #expect(machine.counts.withdrawals == 4 && machine.counts.wouldRefuse == 3 && machine.counts.refusals == 0)
        #expect(machine.available(now: .zero) == 0 && machine.available(now: .seconds(10)) == 1)
    }

    /// A token that comes back after the window was not used either.
    @Test func aTokenThatComesBackLateIsNotCounted() {
        var machine = RetryBudgetMachine(policy(0, 0.1))
        #expect(machine.withdrawalWanted(now: .zero) == true)
        machine.givenBack(now: .seconds(60))
        machine.givenBack(now: .seconds(60))
        #expect(machine.counts.withdrawals == 0 && machine.available(now: .seconds(60)) == 1)
    }

    @Test func aClockThatGoesBackwardsStays() {
        var machine = RetryBudgetMachine(policy(1, 0))
        machine.deposited(now: .seconds(50))
        #expect(machine.withdrawalWanted(now: .seconds(20)) == true)
        #expect(machine.withdrawalWanted(now: .seconds(50)) == false)
    }

    /// A service that fails every request sees at most 1.1 times the load and the floor.
    @Test(arguments: 0..<5)
    func aDeadServiceSeesATenthMore(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var machine = RetryBudgetMachine(RetryBudget.Policy())
        var now = Duration.zero
        var sends = 0
        for _ in 0..<10_000 {
            now += .milliseconds(Int.random(in: 0...4, using: &random))
            machine.deposited(now: now)
            sends += 1
            // Two retries are wanted after each failure.
            for _ in 0..<2 where machine.withdrawalWanted(now: now) { sends += 1 }
        }
        let seconds = now / .seconds(1)
        #expect(Double(sends) <= 10_000 * 1.1 + seconds + 10)
        #expect(sends >= 10_900)
        #expect(machine.counts.deposits + machine.counts.withdrawals == sends)
        #expect(machine.counts.refusals == 30_000 - sends)
    }

    /// The machine against the full history, cut at the borders of slots.
    @Test(arguments: 0..<20)
    func randomWalks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ratio = [0, 0.1, 0.25, 1, 2][Int.random(in: 0..<5, using: &random)]
        let floor = [0, 0.1, 1, 3][Int.random(in: 0..<4, using: &random)]
        var machine = RetryBudgetMachine(policy(ratio, floor))
        var deposits: [Int] = []
        var withdrawals: [Int] = []
        var milliseconds = Int.random(in: -20_000...20_000, using: &random)
        for _ in 0..<4000 {
            let isPause = Int.random(in: 0..<30, using: &random) == 0
            milliseconds += isPause ? Int.random(in: 0...15_000, using: &random) : 20
            let slot = Int((Double(milliseconds) / 1000).rounded(.down))
            let now = Duration.milliseconds(milliseconds)
            if Bool.random(using: &random) {
                machine.deposited(now: now)
                deposits.append(slot)
                continue
            }
            let paid = Double(deposits.count { $0 > slot - 10 }) * ratio + floor * 10
            let used = Double(withdrawals.count { $0 > slot - 10 })
            let isAllowed = paid - used >= 1 - 1e-9
            #expect(machine.withdrawalWanted(now: now) == isAllowed)
            if isAllowed { withdrawals.append(slot) }
        }
        #expect(machine.counts.withdrawals == withdrawals.count)
    }

    @Test func hedgesWithdrawFromBoth() {
        let clock = ManualClock()
        let shared = RetryBudget(policy(0, 0.2), clock: clock)
        let own = RetryBudget(policy(0, 0.3), clock: clock)
        let view = shared.withdrawOnly.limited(by: own)
        #expect(view.withdraw() && view.withdraw())
        #expect(shared.available == 0 && own.available == 1)
        // The shared budget refuses, and the own one gets its token back.
        #expect(!view.withdraw())
        #expect(own.available == 1 && own.counts.withdrawals == 2)
        view.giveBack()
        #expect(shared.available == 1 && own.available == 2)
        clock.advance(by: .seconds(10))
        #expect(shared.available == 2)
        #expect(shared.withdrawOnly.withdraw())
        #expect(shared.counts.deposits == 0)
    }

    /// A charge is never refused. What it takes is missing for retries, until it leaves the window.
    @Test func chargesAreNeverRefused() {
        let clock = ManualClock()
        let budget = RetryBudget(policy(0, 0.2), clock: clock)
        budget.charge()
        #expect(budget.available == 1)
        for _ in 0..<4 { budget.charge() }
        #expect(budget.available == 0 && !budget.withdraw())
        #expect(budget.counts.charges == 5 && budget.counts.withdrawals == 5 && budget.counts.refusals == 1)
        #expect(budget.counts.deposits == 0)
        budget.returnCharge()
        #expect(budget.counts.charges == 4 && budget.counts.withdrawals == 4 && budget.available == 0)
        clock.advance(by: .seconds(10))
        #expect(budget.available == 2 && budget.withdraw())
        #expect(budget.counts.charges == 4 && budget.counts.withdrawals == 5)
    }

    /// A token that comes back after its window is not that of a later send.
    @Test func aTokenComesBackToItsOwnSlot() {
        var machine = RetryBudgetMachine(policy(0, 0.2))
        let isFirstGranted = machine.withdrawalWanted(now: .zero)
        let isSecondGranted = machine.withdrawalWanted(now: .seconds(15))
        let isThirdGranted = machine.withdrawalWanted(now: .seconds(15))
        #expect(isFirstGranted && isSecondGranted && isThirdGranted)
        machine.givenBack(now: .seconds(16), taken: .zero)
        #expect(machine.available(now: .seconds(16)) == 0)
        #expect(machine.counts.withdrawals == 2)
        machine.givenBack(now: .seconds(16), taken: .seconds(15))
        #expect(machine.available(now: .seconds(16)) == 1)
        machine.charged(now: .seconds(16))
        machine.chargeReturned(now: .seconds(40), taken: .seconds(16))
        #expect(machine.counts.charges == 0 && machine.counts.withdrawals == 1)
    }

    @Test func aDepositOfNothingGoesBack() {
        var machine = RetryBudgetMachine(policy(1, 0))
        machine.deposited(now: .zero)
        machine.depositReturned(now: .seconds(1), made: .zero)
        #expect(machine.available(now: .seconds(1)) == 0)
        #expect(machine.counts.deposits == 0)
        machine.deposited(now: .seconds(1))
        machine.deposited(now: .seconds(20))
        machine.depositReturned(now: .seconds(20), made: .seconds(1))
        #expect(machine.available(now: .seconds(20)) == 1)
        #expect(machine.counts.deposits == 1)
    }

    /// The answers to challenges are counted. They leave the tokens to retries.
    @Test func whatIsCountedTakesNoToken() {
        var machine = RetryBudgetMachine(policy(0.1, 0))
        for _ in 0..<10 {
            machine.deposited(now: .zero)
            machine.counted()
        }
        #expect(machine.available(now: .zero) == 1)
        #expect(machine.counts.charges == 10 && machine.counts.withdrawals == 10)
        machine.countReturned()
        #expect(machine.counts.charges == 9 && machine.counts.withdrawals == 9)
        #expect(machine.available(now: .zero) == 1)
    }

    @Test func depositsPayForCharges() {
        var machine = RetryBudgetMachine(policy(1, 0))
        for _ in 0..<3 { machine.charged(now: .zero) }
        for paid in 1...3 {
            machine.deposited(now: .zero)
            #expect(machine.available(now: .zero) == 0, "\(paid)")
        }
        machine.deposited(now: .zero)
        let isGranted = machine.withdrawalWanted(now: .zero)
        #expect(isGranted)
        #expect(machine.available(now: .zero) == 0)
        // What was never charged does not come back.
        var other = RetryBudgetMachine(policy(0, 0.1))
        let isOtherGranted = other.withdrawalWanted(now: .zero)
        #expect(isOtherGranted)
        other.chargeReturned(now: .zero)
        #expect(other.available(now: .zero) == 0)
        #expect(other.counts.withdrawals == 1)
    }

    @Test func budgetsOfHosts() {
        let clock = ManualClock()
        let budgets = RetryBudgets(policy(0, 0.1), capacity: 8, clock: clock)
        let first = budgets.budget(for: "a.test")
        #expect(budgets.budget(for: "A.TEST") === first)
        #expect(budgets.budget(for: "b.test") !== first)
        for number in 0..<1000 {
            _ = budgets.budget(for: "\(number).test")
            // In use, therefore kept.
            #expect(budgets.budget(for: "a.test") === first)
            #expect(budgets.count <= 8)
        }
        clock.advance(by: .seconds(61))
        for number in 0..<8 { _ = budgets.budget(for: "new\(number).test") }
        #expect(budgets.budget(for: "a.test") !== first)
    }
}
