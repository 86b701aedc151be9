import Errand
import ErrandTesting
import Testing

@testable import ErrandClient

private typealias Machine = RequestStateMachine
private typealias State = RequestStateMachine.State

private let run = Machine.Run(transfer: 3, work: 7)
private let paused = Machine.Run(transfer: 3, isPaused: true, work: 7)
private let next = Machine.Run(transfer: 4, work: 7)
/// At its next asynchronous step.
private let stepped = Machine.Run(transfer: 3, work: 8)
private let id = TransferID(rawValue: 9)

/// Every state; a run that counts transfers from 3.
private let states: [State] = [
    .idle, .preparing(run), .submitting(run), .stoppedWhileSubmitting(run), .inFlight(run, id), .stopping(run),
    .processing(run), .working(run), .stoppedWhileProcessing(run), .ending(run), .endingStopped(run), notifying(),
    .finished(run, .succeeded),
]

private func notifying(silenced: Bool = false, next: Machine.Next? = nil) -> State {
    .notifying(run, .succeeded, .init(isSilenced: silenced, next: next))
}

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
                (notifying(), .postpone, notifying(next: .init())),
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

    @Test func aContinuedTransferHasAnotherID() {
        let other = TransferID(rawValue: 77)
        check(
            [
                (.submitting(run), .none, .inFlight(run, other)), (.inFlight(run, id), .none, .inFlight(run, other)),
                (.stoppedWhileSubmitting(run), .cancel(other), .stopping(run)),
                (.stopping(run), .cancel(other), .stopping(run)),
            ], otherwise: Machine.ControlAction.none
        ) { $0.transferContinues(as: other) }
        var machine = Machine(.inFlight(paused, id))
        #expect(machine.transferContinues(as: other) == .pause(other))
        // The return of `submit` was overtaken: its id is that of the ended attempt.
        #expect(machine.submitted(id, transfer: 3) == .none && machine.state == .inFlight(paused, other))
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
                (.preparing(run), .abandon, .stoppedWhileProcessing(run)),
                (.working(run), .abandon, .stoppedWhileProcessing(run)),
                (.ending(run), .none, .endingStopped(run)), (notifying(), .none, notifying(silenced: true)),
            ], otherwise: Machine.ControlAction.none
        ) { $0.stopRequested() }
    }

    @Test func aTransferIsSubmittedUnlessItWasStopped() {
        for state in states {
            let machine = Machine(state)
            let (present, earlier) = (machine.maySubmit(transfer: 3), machine.maySubmit(transfer: 2))
            #expect(present == (state == .submitting(run)), "in \(state)")
            #expect(!earlier)
        }
    }

    @Test func aTransferIsUnsubmittedUntilTheTransportHasItStoppedOrNot() {
        for state in states {
            let isUnsubmitted = [.submitting(run), .stoppedWhileSubmitting(run)].contains(state)
            #expect(Machine(state).unsubmitted == (isUnsubmitted ? 3 : nil), "in \(state)")
        }
    }

    @Test func notified() {
        let tested: [(State, Machine.NotifiedAction, State)] = [
            (notifying(), .rest, .finished(run, .succeeded)),
            (notifying(silenced: true), .rest, .finished(run, .succeeded)),
            (notifying(next: .init()), .submit(transfer: 4), .submitting(next)),
            (
                notifying(next: .init(isPaused: true)), .submit(transfer: 4),
                .submitting(.init(transfer: 4, isPaused: true, work: 7))
            ),
            (notifying(next: .init(isStopped: true)), .submit(transfer: 4), .stoppedWhileSubmitting(next)),
        ]
        check(tested, otherwise: .rest, in: tested.map(\.0)) { $0.notified() }
    }

    @Test func thePostponedRunIsStoppedPausedAndNotAskedForTwice() {
        var machine = Machine(notifying(next: .init()))
        #expect(machine.startRequested() == .refuse)
        #expect(machine.pauseRequested() == .none)
        #expect(machine.state == notifying(next: .init(isPaused: true)))
        #expect(machine.resumeRequested() == .none)
        #expect(machine.stopRequested() == .none)
        #expect(machine.state == notifying(silenced: true, next: .init(isStopped: true)))
        let (isSilenced, outcome) = (machine.isSilenced, machine.outcome)
        #expect(isSilenced)
        #expect(outcome == .succeeded)
    }

    /// What reached the transport last is what the request wants, or is followed by it.
    @Test func aControlThatCameTooLateIsUndone() {
        let flying = State.inFlight(run, id)
        let held = State.inFlight(paused, id)
        let old = TransferID(rawValue: 8)
        let table: [(State, Machine.ControlAction, Machine.ControlAction)] = [
            (flying, .pause(id), .resume(id)), (flying, .resume(id), .none), (held, .pause(id), .none),
            (held, .resume(id), .pause(id)), (flying, .pause(old), .none), (held, .resume(old), .none),
            (flying, .cancel(id), .none), (flying, .none, .none), (.stopping(run), .pause(id), .none),
            (.processing(run), .pause(id), .none),
        ]
        for (state, performed, expected) in table {
            let machine = Machine(state)
            let answer = machine.controlPerformed(performed)
            #expect(answer == expected, "\(performed) in \(state)")
        }
    }

    @Test func pause() {
        check(
            [
                (.submitting(run), .none, .submitting(paused)),
                (.inFlight(run, id), .pause(id), .inFlight(paused, id)),
                (.processing(run), .none, .processing(paused)),
                (.preparing(run), .none, .preparing(paused)), (.working(run), .none, .working(paused)),
            ], otherwise: Machine.ControlAction.none
        ) { $0.pauseRequested() }
    }

    @Test func resume() {
        let tested: [State] = [
            .submitting(paused), .inFlight(paused, id), .processing(paused), .preparing(paused), .working(paused),
            .inFlight(run, id), .idle,
        ]
        check(
            [
                (.submitting(paused), .none, .submitting(run)),
                (.inFlight(paused, id), .resume(id), .inFlight(run, id)),
                (.processing(paused), .none, .processing(run)), (.preparing(paused), .none, .preparing(run)),
                (.working(paused), .none, .working(run)),
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

    @Test func workBegan() {
        let tested: [(State, Int?, State)] = [
            (.submitting(run), 8, .preparing(stepped)), (.processing(run), 8, .working(stepped)),
            (.stoppedWhileSubmitting(run), nil, .stoppedWhileSubmitting(run)),
            (.stoppedWhileProcessing(run), nil, .stoppedWhileProcessing(run)),
        ]
        check(tested, otherwise: nil, in: tested.map(\.0)) { $0.workBegan() }
    }

    @Test func abandonRequested() {
        check(
            [(.preparing(run), true, .processing(run)), (.working(run), true, .processing(run))], otherwise: false
        ) { $0.abandonRequested() }
    }

    @Test func workEnded() {
        check(
            [(.preparing(run), .goOn, .submitting(run)), (.working(run), .goOn, .processing(run))], otherwise: .ignore
        ) { $0.workEnded(7) }
        check([], otherwise: .ignore) { $0.workEnded(6) }
        for state in states {
            let isWorking = Machine(state).isWorking(7)
            #expect(isWorking == (state == .preparing(run) || state == .working(run)), "in \(state)")
        }
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
        #expect(machine.state == .notifying(run, .failed(.timeoutIdle), .init()))
        #expect(machine.notified() == .rest)
        #expect(machine.state == .finished(run, .failed(.timeoutIdle)))
    }

    @Test func stoppedWhileAccessoriesAreToldIsCancelled() {
        var machine = Machine(.processing(run))
        machine.processed()
        _ = machine.stopRequested()
        #expect(machine.concluded(.succeeded) == .cancelled)
        #expect(machine.state == .notifying(run, .cancelled, .init()))
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
        await #expect(processExitsWith: .failure) {
            var machine = RequestStateMachine(.idle)
            _ = machine.notified()
        }
        await #expect(processExitsWith: .failure) {
            var machine = RequestStateMachine(.idle)
            _ = machine.workBegan()
        }
    }

    /// A transport, interceptors and a user who act at random, a million events in 10,000 walks: each run ends once, a
    /// stop is never answered by success, no cancel names a transfer that is not the present one, and a step that was
    /// given up leads nowhere.
    @Test func randomWalks() {
        for seed in 0..<10_000 {
            var random = SeededGenerator(seed: UInt64(seed))
            var walk = Walk()
            for _ in 0..<100 { walk.step(&random) }
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
    /// The asynchronous step that runs, and what it stands before.
    private var step: (work: Int, phase: Phase)?
    /// Steps that were given up, and may still tell their end.
    private var abandoned: [Int] = []

    private enum Phase {
        case preparing(Int)
        case processing
    }

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
        case .abandon:
            guard let step else {
                violations.append("abandon without a step")
                return
            }
            abandoned.append(step.work)
            self.step = nil
            // Told on the callback queue, at once here.
            stopped = true
            conclude(stopLate: false, restart: 2)
        }
    }

    /// With or without interceptors.
    private mutating func send(_ transfer: Int, _ random: inout SeededGenerator) {
        if Bool.random(using: &random), let work = feed({ $0.workBegan() }) {
            step = (work, .preparing(transfer))
        } else {
            submit(transfer)
        }
    }

    /// `replay`: an interceptor wants the request sent again.
    private mutating func endStep(replay: Bool, _ random: inout SeededGenerator) {
        if let late = abandoned.popLast(), feed({ $0.workEnded(late) }) != .ignore {
            violations.append("the end of an abandoned step was taken")
        }
        guard let ended = step else { return }
        step = nil
        guard feed({ $0.workEnded(ended.work) }) == .goOn else {
            violations.append("the end of a step was ignored")
            return
        }
        switch ended.phase {
        case .preparing(let transfer):
            submit(transfer)
        case .processing where replay:
            if case .submit(let transfer) = feed({ $0.hopDecided() }) { send(transfer, &random) }
        case .processing:
            conclude(
                stopLate: Int.random(in: 0..<8, using: &random) == 0, restart: Int.random(in: 0..<4, using: &random))
        }
    }

    private mutating func submit(_ transfer: Int) {
        if carried != nil { violations.append("two transfers at once") }
        carried = transfer
        unreturned = transfer
    }

    mutating func step(_ random: inout SeededGenerator) {
        switch Int.random(in: 0..<9, using: &random) {
        case 0:
            if case .submit(let transfer) = feed({ $0.startRequested() }) {
                starts += 1
                stopped = false
                send(transfer, &random)
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
        case 5, 6:
            endStep(replay: Bool.random(using: &random), &random)
        default:
            endTransfer(
                hop: Bool.random(using: &random), waits: Bool.random(using: &random),
                stopLate: Int.random(in: 0..<8, using: &random) == 0,
                restart: Int.random(in: 0..<4, using: &random))
        }
    }

    private mutating func returnFromSubmit() {
        guard let transfer = unreturned else { return }
        unreturned = nil
        control(feed { $0.submitted(TransferID(rawValue: UInt64(transfer)), transfer: transfer) })
    }

    /// `restart`: 0, started again while it is notifying; 1, and stopped then; else not.
    private mutating func endTransfer(hop: Bool, waits: Bool, stopLate: Bool, restart: Int) {
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
        case .evaluate where waits:
            if let work = feed({ $0.workBegan() }) {
                step = (work, .processing)
                return
            }
            violations.append("a step was refused though nobody stopped it")
        case .evaluate, .conclude:
            break
        }
        conclude(stopLate: stopLate, restart: restart)
    }

    private mutating func conclude(stopLate: Bool, restart: Int) {
        feed { $0.processed() }
        if stopLate {
            control(feed { $0.stopRequested() })
            stopped = true
        }
        let outcome = feed { $0.concluded(.succeeded) }
        ends += 1
        if (outcome == .cancelled) != stopped { violations.append("\(outcome) with stopped = \(stopped)") }
        if restart < 2, feed({ $0.startRequested() }) != .postpone { violations.append("no start while notifying") }
        if restart == 1 { control(feed { $0.stopRequested() }) }
        guard case .submit(let transfer) = feed({ $0.notified() }) else { return }
        starts += 1
        stopped = restart == 1
        submit(transfer)
    }

    mutating func finish() {
        var random = SeededGenerator(seed: 0)
        while step != nil || carried != nil {
            endStep(replay: false, &random)
            returnFromSubmit()
            if carried != nil { endTransfer(hop: false, waits: false, stopLate: false, restart: 2) }
        }
    }
}
