import Errand
import Synchronization

/// What the storm knows of one request. It does not keep the request.
final class StormSubject: Sendable {
    /// How the request tells of its end.
    enum Way: CaseIterable {
        case closures, completion, delegate, delegateAndCompletion
    }

    let target: StormTarget
    let way: Way
    let ledger: StormLedger
    /// Stops of this request.
    let stops = StormStops()
    let delegate: StormDelegate
    private let known = Mutex(Known())

    private struct Known {
        weak var request: AnyRequest?
        var runs: [WeakRun] = []
        /// Starts that were asked for and not refused, and those of them that have returned true.
        var attempts = 0
        var accepted = 0
        /// Nothing may be told of the first so many accepted starts.
        var silenced = 0
    }

    private struct WeakRun {
        weak var run: StormRun?
    }

    init(_ target: StormTarget, way: Way, ledger: StormLedger) {
        self.target = target
        self.way = way
        self.ledger = ledger
        delegate = StormDelegate(target, ledger)
    }

    /// Whether the request is still there.
    var isAlive: Bool { known.withLock { $0.request != nil } }

    var accepted: Int { known.withLock { $0.accepted } }

    /// Stops, its own and those of whatever runs, at some moment.
    struct Mark: Sendable {
        var own = 0
        var general = 0
    }

    var mark: Mark { Mark(own: stops.mark, general: ledger.generalStops.mark) }

    /// Whether a run that began at that mark may have been stopped.
    func wasStopped(since mark: Mark) -> Bool {
        stops.happened(since: mark.own) || ledger.generalStops.happened(since: mark.general)
    }

    func make(_ client: Client, _ command: StormCommand) -> Request<StormCommand> {
        let request = client.request(command)
        known.withLock { $0.request = request }
        if way == .delegate || way == .delegateAndCompletion {
            delegate.subject.withLock { $0 = .init(self) }
            request.delegate = delegate
        }
        return request
    }

    /// Starts the request; `then` is what a closure does when it is called.
    func start(_ request: Request<StormCommand>, then: StormReaction) {
        known.withLock { $0.attempts += 1 }
        let isAccepted: Bool
        switch way {
        case .delegate:
            isAccepted = request.start()
            accept(isAccepted)
        case .closures:
            let run = remember(StormRun(self))
            isAccepted = request.start(
                success: { request in run.told(request, succeeded: true, then) },
                failure: { request in run.told(request, succeeded: false, then) })
            accept(isAccepted)
            run.settle(isAccepted)
        case .completion, .delegateAndCompletion:
            let run = remember(StormRun(self))
            isAccepted = request.start(completion: { request in run.told(request, succeeded: nil, then) })
            accept(isAccepted)
            run.settle(isAccepted)
        }
        ledger.started(isAccepted)
    }

    private func accept(_ isAccepted: Bool) {
        known.withLock { known in
            if isAccepted { known.accepted += 1 } else { known.attempts -= 1 }
        }
    }

    private func remember(_ run: StormRun) -> StormRun {
        known.withLock { known in
            known.runs.removeAll { $0.run == nil }
            known.runs.append(WeakRun(run: run))
        }
        return run
    }

    func stop(_ request: AnyRequest) {
        stops.count { request.stop() }
    }

    /// Stops the request on the callback queue: of what was started before, nobody is told any more.
    func stopOnQueue(_ request: AnyRequest) {
        let (runs, accepted) = known.withLock { known in
            (known.runs.compactMap(\.run).filter(\.isAccepted), known.accepted)
        }
        stop(request)
        guard !ledger.reportsStops else { return }
        for run in runs { run.silence() }
        known.withLock { $0.silenced = accepted }
    }

    /// Whether a delegate that is called now is called of a run that has been silenced: all that were asked for are.
    var isSilenced: Bool {
        known.withLock { $0.silenced > 0 && $0.silenced == $0.attempts }
    }
}
