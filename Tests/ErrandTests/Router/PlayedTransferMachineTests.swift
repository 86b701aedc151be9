import Errand
import Testing

@testable import ErrandEngine
@testable import ErrandModel
@testable import ErrandTesting

/// When a played transfer sleeps, and when a timeout ends it.
@Suite struct PlayedTransferMachineTests {
    /// What the machine decides `seconds` after the start.
    private func next(_ machine: inout PlayedTransferMachine, _ seconds: Int) -> String {
        switch machine.next(now: .seconds(seconds)) {
        case .none: "none"
        case .deliver: "deliver"
        case .sleep(let due): "sleep \(due.components.seconds)"
        case .wake: "wake"
        case .end(.response): "response"
        case .end(.failure(let error)): error.shortDescription
        case .timedOut(let error): "without a script: \(error.shortDescription)"
        }
    }

    @Test func withoutTimeoutsThereIsNoSleep() {
        var machine = PlayedTransferMachine()
        let first = next(&machine, 0)
        machine.play(TransferScript(.connectionLost), now: .seconds(1))
        let last = next(&machine, 1)
        #expect([first, last] == ["none", "connectionLost"])
    }

    @Test func theTotalTimeoutEndsAWait() {
        var machine = PlayedTransferMachine(total: .seconds(2), idle: .seconds(3))
        let actions = [next(&machine, 0), next(&machine, 1), next(&machine, 2), next(&machine, 3)]
        #expect(actions == ["sleep 2", "none", "without a script: timeoutTotal", "none"])
        #expect(machine.hasEnded)
    }

    @Test func aWriteMovesTheIdleTimeoutWithoutANewSleep() {
        var machine = PlayedTransferMachine(idle: .seconds(3))
        var actions = [next(&machine, 0)]
        machine.took(1, now: .seconds(2))
        actions += [next(&machine, 2), next(&machine, 2)]
        machine.woke(from: .seconds(3))
        actions += [next(&machine, 3), next(&machine, 4)]
        machine.woke(from: .seconds(5))
        actions += [next(&machine, 5)]
        #expect(actions == ["sleep 3", "deliver", "none", "sleep 5", "none", "without a script: timeoutIdle"])
    }

    @Test func aSleepIsCancelledWhenNoTimeoutIsLeft() {
        var complete = PlayedTransferMachine(idle: .seconds(3))
        var actions = [next(&complete, 0)]
        complete.uploadIsOver()
        actions += [next(&complete, 1), next(&complete, 1), next(&complete, 9)]
        #expect(actions == ["sleep 3", "wake", "none", "none"])
        var passed = PlayedTransferMachine(total: .seconds(5), idle: .seconds(3))
        actions = [next(&passed, 0)]
        passed.liftTimeouts()
        actions += [next(&passed, 1), next(&passed, 9)]
        passed.play(TransferScript(.connectionLost), now: .seconds(9))
        actions += [next(&passed, 9)]
        #expect(actions == ["sleep 3", "wake", "none", "connectionLost"])
    }

    /// A clock may resume a task a little too early.
    @Test func anEarlyWakeSleepsAgain() {
        var machine = PlayedTransferMachine(total: .seconds(5))
        var actions = [next(&machine, 0)]
        machine.woke(from: .seconds(5))
        actions += [next(&machine, 4), next(&machine, 4), next(&machine, 5)]
        #expect(actions == ["sleep 5", "sleep 5", "none", "without a script: timeoutTotal"])
    }

    @Test func aScriptTakesThePlaceOfTheTimeouts() {
        var machine = PlayedTransferMachine(total: .seconds(9))
        var actions = [next(&machine, 0)]
        machine.play(TransferScript(.connectionLost, after: .seconds(2)), now: .seconds(1))
        actions += [next(&machine, 1), next(&machine, 2), next(&machine, 3)]
        #expect(actions == ["sleep 9", "sleep 3", "none", "connectionLost"])
    }

    @Test func aScriptThatComesTooLateIsNotPlayed() {
        var machine = PlayedTransferMachine(total: .seconds(2))
        machine.play(TransferScript(.connectionLost), now: .seconds(3))
        let action = next(&machine, 3)
        #expect(action == "without a script: timeoutTotal")
    }

    @Test func aHeldEndWaitsForTheUploadOrATimeout() {
        var released = PlayedTransferMachine(total: .seconds(9), idle: .seconds(3))
        released.holdEnd()
        released.play(TransferScript(.connectionLost), now: .zero)
        var actions = [next(&released, 0)]
        released.releaseEnd()
        actions += [next(&released, 1)]
        #expect(actions == ["sleep 3", "connectionLost"])
        var silent = PlayedTransferMachine(total: .seconds(9), idle: .seconds(3))
        silent.holdEnd()
        silent.play(TransferScript(.connectionLost), now: .zero)
        actions = [next(&silent, 0), next(&silent, 3)]
        #expect(actions == ["sleep 3", "timeoutIdle"])
    }

    @Test func aPauseStopsTheIdleTimeoutOnly() {
        var machine = PlayedTransferMachine(total: .seconds(20), idle: .seconds(3))
        machine.setPaused(true, now: .zero)
        var actions = [next(&machine, 5)]
        machine.setPaused(false, now: .seconds(10))
        actions += [next(&machine, 10)]
        machine.setPaused(true, now: .seconds(11))
        actions += [next(&machine, 20)]
        #expect(actions == ["sleep 20", "sleep 13", "without a script: timeoutTotal"])
    }
}
