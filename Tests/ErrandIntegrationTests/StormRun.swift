import Errand
import Synchronization

/// One start with closures. Nobody but the closures keeps it, so that it goes when they are released.
final class StormRun: Sendable {
    private let subject: StormSubject
    private let stopsBefore: StormSubject.Mark
    private let state = Mutex(State())

    private struct State {
        var isAccepted: Bool?
        var calls = 0
        var isSilenced = false
    }

    init(_ subject: StormSubject) {
        self.subject = subject
        stopsBefore = subject.mark
        subject.ledger.openRuns.add(1, ordering: .relaxed)
    }

    deinit {
        let (isAccepted, calls) = state.withLock { ($0.isAccepted, $0.calls) }
        let ledger = subject.ledger
        let mayBeSilent = !ledger.reportsStops && subject.wasStopped(since: stopsBefore)
        switch (isAccepted, calls) {
        case (false, 0), (true, 1): break
        case (true, 0) where mayBeSilent: ledger.ended("stopped silently")
        default:
            ledger.problem(
                "a run of \(subject.target) by \(subject.way) was told \(calls) times; started: \(String(describing: isAccepted))"
            )
        }
        ledger.openRuns.subtract(1, ordering: .relaxed)
    }

    var isAccepted: Bool { state.withLock { $0.isAccepted == true } }

    /// `start` has returned.
    func settle(_ isAccepted: Bool) {
        state.withLock { $0.isAccepted = isAccepted }
    }

    /// It was stopped on the callback queue.
    func silence() {
        state.withLock { $0.isSilenced = true }
    }

    /// A closure was called. `succeeded`: which one; `nil`: there is one for both ends.
    func told(_ request: Request<StormCommand>, succeeded: Bool?, _ then: StormReaction) {
        let (calls, isSilenced) = state.withLock { state in
            state.calls += 1
            return (state.calls, state.isSilenced)
        }
        let context = "\(subject.way)"
        if calls > 1 { subject.ledger.problem("\(context) of \(subject.target): told \(calls) times") }
        if isSilenced { subject.ledger.problem("\(context) of \(subject.target): told after a stop on the queue") }
        let result = request.result
        subject.ledger.judge(
            result?.map(\.count), of: subject.target, mayBeStopped: subject.wasStopped(since: stopsBefore), context,
            request.metrics)
        if let succeeded, (request.value != nil) != succeeded {
            subject.ledger.problem("\(context) of \(subject.target): the wrong closure was called")
        }
        if !request.state.isFinished { subject.ledger.problem("\(context): told in \(request.state)") }
        then.act(on: request, of: subject)
    }
}
