import Testing

@testable import Errand

private typealias Machine = RequestStateMachine
private typealias State = RequestStateMachine.State

private let run = Machine.Run(transfer: 3)
private let paused = Machine.Run(transfer: 3, isPaused: true)
private let next = Machine.Run(transfer: 4)
private let id = TransferID(rawValue: 9)

/// Every state; a run that counts transfers from 3.
private let states: [State] = [
    .idle, .submitting(run), .stoppedWhileSubmitting(run), .inFlight(run, id), .stopping(run), .processing(run),
    .stoppedWhileProcessing(run), .ending(run), .endingStopped(run), .finished(run, .succeeded),
]

@Suite struct RequestStateMachineTests {
    /// Checks one event in every state: the expected (action, state), or, where nothing is said, `otherwise` and no
    /// change.
    fileprivate func check<Action: Equatable>(
        _ expected: [(State, Action, State)], otherwise: Action, in tested: [State] = states,
        _ event: (inout Machine) -> Action
    ) {
        for state in tested {
            var machine = Machine(state)
            let action = event(&machine)
            let row = expected.first { $0.0 == state }
            #expect(action == row?.1 ?? otherwise, "in \(state)")
            #expect(machine.state == row?.2 ?? state, "in \(state)")
        }
    }

    @Test func start() {
        check(
            [
                (.idle, .submit(transfer: 1), .submitting(.init(transfer: 1))),
                (.finished(run, .succeeded), .submit(transfer: 4), .submitting(next)),
            ], otherwise: .refuse
        ) { $0.startRequested() }
    }

    @Test(arguments: [Machine.Outcome.succeeded, .failed(.timeoutIdle), .cancelled])
    fileprivate func anyOutcomeMayBeStartedAgain(outcome: Machine.Outcome) {
        var machine = Machine(.finished(paused, outcome))
        #expect(machine.startRequested() == .submit(transfer: 4))
        #expect(machine.state == .submitting(next))
    }

    @Test func submitted() {
        check(
            [
                (.submitting(run), .none, .inFlight(run, id)),
                (.stoppedWhileSubmitting(run), .cancel(id), .stopping(run)),
            ], otherwise: Machine.ControlAction.none
        ) { $0.submitted(id, transfer: 3) }
    }

    @Test func submittedOfAnEarlierTransferIsIgnored() {
        check([], otherwise: Machine.ControlAction.none) { $0.submitted(id, transfer: 2) }
    }

    @Test func submittedWhilePausedPauses() {
        var machine = Machine(.submitting(paused))
        #expect(machine.submitted(id, transfer: 3) == .pause(id))
        #expect(machine.state == .inFlight(paused, id))
    }

    @Test func stop() {
        check(
            [
                (.submitting(run), .none, .stoppedWhileSubmitting(run)),
                (.inFlight(run, id), .cancel(id), .stopping(run)),
                (.processing(run), .none, .stoppedWhileProcessing(run)),
                (.ending(run), .none, .endingStopped(run)),
            ], otherwise: Machine.ControlAction.none
        ) { $0.stopRequested() }
    }

    @Test func pause() {
        check(
            [
                (.submitting(run), .none, .submitting(paused)),
                (.inFlight(run, id), .pause(id), .inFlight(paused, id)),
                (.processing(run), .none, .processing(paused)),
            ], otherwise: Machine.ControlAction.none
        ) { $0.pauseRequested() }
    }

    @Test func resume() {
        let tested: [State] = [
            .submitting(paused), .inFlight(paused, id), .processing(paused), .inFlight(run, id), .idle,
        ]
        check(
            [
                (.submitting(paused), .none, .submitting(run)),
                (.inFlight(paused, id), .resume(id), .inFlight(run, id)),
                (.processing(paused), .none, .processing(run)),
            ], otherwise: Machine.ControlAction.none, in: tested
        ) { $0.resumeRequested() }
    }

    @Test func transferEnded() {
        check(
            [
                (.submitting(run), .evaluate, .processing(run)),
                (.inFlight(run, id), .evaluate, .processing(run)),
                (.stoppedWhileSubmitting(run), .conclude, .stoppedWhileProcessing(run)),
                (.stopping(run), .conclude, .stoppedWhileProcessing(run)),
            ], otherwise: .ignore
        ) { $0.transferEnded() }
    }

    @Test func hopDecided() {
        check(
            [(.processing(run), .submit(transfer: 4), .submitting(next))], otherwise: .conclude,
            in: [.processing(run), .stoppedWhileProcessing(run)]
        ) { $0.hopDecided() }
    }

    @Test func processedAndConcluded() {
        var machine = Machine(.processing(run))
        machine.processed()
        #expect(machine.state == .ending(run))
        #expect(machine.concluded(.failed(.timeoutIdle)) == .failed(.timeoutIdle))
        #expect(machine.state == .finished(run, .failed(.timeoutIdle)))
    }

    @Test func stoppedWhileAccessoriesAreToldIsCancelled() {
        var machine = Machine(.processing(run))
        machine.processed()
        _ = machine.stopRequested()
        #expect(machine.concluded(.succeeded) == .cancelled)
        #expect(machine.state == .finished(run, .cancelled))
    }

    /// What our own bugs alone can reach ends the process, by name.
    @Test func impossibleEventsTrap() async {
        await #expect(processExitsWith: .failure) {
            var machine = RequestStateMachine(.idle)
            machine.processed()
        }
        await #expect(processExitsWith: .failure) {
            var machine = RequestStateMachine(.inFlight(.init(transfer: 1), TransferID(rawValue: 1)))
            _ = machine.hopDecided()
        }
        await #expect(processExitsWith: .failure) {
            var machine = RequestStateMachine(.processing(.init(transfer: 1)))
            _ = machine.concluded(.succeeded)
        }
    }

    /// A transport and a user who act at random, 2,000 walks: each run ends once, a stop is never answered by success,
    /// and no cancel names a transfer that is not the present one.
    @Test func randomWalks() {
        for seed in 0..<2000 {
            var random = SeededGenerator(seed: UInt64(seed))
            var walk = Walk()
            for _ in 0..<60 { walk.step(&random) }
            walk.finish()
            #expect(walk.violations == [], "seed \(seed)")
            #expect(walk.starts == walk.ends, "seed \(seed)")
        }
    }
}

/// The world around one machine: a shell, a transport, a user.
private struct Walk {
    private var machine = State.idle
    private(set) var starts = 0
    private(set) var ends = 0
    private(set) var violations: [String] = []
    /// The transfer that the transport carries; its `submit` may not have returned yet.
    private var carried: Int?
    private var unreturned: Int?
    private var stopped = false

    private mutating func feed<Result>(_ event: (inout RequestStateMachine) -> Result) -> Result {
        var machine = RequestStateMachine(machine)
        let result = event(&machine)
        self.machine = machine.state
        return result
    }

    private mutating func control(_ action: RequestStateMachine.ControlAction) {
        switch action {
        case .none:
            break
        case .cancel(let id), .pause(let id), .resume(let id):
            if let carried, Int(id.rawValue) != carried { violations.append("\(action) while \(carried) runs") }
        }
    }

    private mutating func submit(_ transfer: Int) {
        if carried != nil { violations.append("two transfers at once") }
        carried = transfer
        unreturned = transfer
    }

    mutating func step(_ random: inout SeededGenerator) {
        switch Int.random(in: 0..<7, using: &random) {
        case 0:
            if case .submit(let transfer) = feed({ $0.startRequested() }) {
                starts += 1
                stopped = false
                submit(transfer)
            }
        case 1:
            returnFromSubmit()
        case 2:
            let isOver = RequestState(machine).isFinished || machine == .idle
            control(feed { $0.stopRequested() })
            if !isOver { stopped = true }
        case 3:
            control(feed { $0.pauseRequested() })
        case 4:
            control(feed { $0.resumeRequested() })
        default:
            endTransfer(hop: Bool.random(using: &random), stopLate: Int.random(in: 0..<8, using: &random) == 0)
        }
    }

    private mutating func returnFromSubmit() {
        guard let transfer = unreturned else { return }
        unreturned = nil
        control(feed { $0.submitted(TransferID(rawValue: UInt64(transfer)), transfer: transfer) })
    }

    private mutating func endTransfer(hop: Bool, stopLate: Bool) {
        guard carried != nil else {
            if feed({ $0.transferEnded() }) != .ignore { violations.append("an end that nobody caused was taken") }
            return
        }
        carried = nil
        switch feed({ $0.transferEnded() }) {
        case .ignore:
            violations.append("the end of a transfer was ignored")
            return
        case .evaluate where hop:
            if case .submit(let transfer) = feed({ $0.hopDecided() }) { return submit(transfer) }
            violations.append("a hop was refused though nobody stopped it")
        case .evaluate, .conclude:
            break
        }
        feed { $0.processed() }
        if stopLate {
            control(feed { $0.stopRequested() })
            stopped = true
        }
        let outcome = feed { $0.concluded(.succeeded) }
        ends += 1
        if (outcome == .cancelled) != stopped { violations.append("\(outcome) with stopped = \(stopped)") }
    }

    mutating func finish() {
        returnFromSubmit()
        while carried != nil { endTransfer(hop: false, stopLate: false) }
    }
}
