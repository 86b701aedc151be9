import Errand
import Synchronization

/// The ends of one request's runs, as its closures and its delegate see them.
final class ClientWalkEnds: RequestDelegate {
    private let starts = Atomic<Int>(0)
    private let successes = Atomic<Int>(0)
    private let failures = Atomic<Int>(0)
    private let completions = Atomic<Int>(0)
    private let delegated = Atomic<Int>(0)
    private let replayed = Atomic<Int>(0)
    private let miscounted = Notes<String>()

    /// Starts the request, also once more. A start that the request refuses is not counted.
    func start<C: Command>(_ request: Request<C>) {
        starts.add(1, ordering: .relaxed)
        let isStarted = request.start(
            completion: { [self] in noteEnd(of: $0) },
            success: { [self] _ in successes.add(1, ordering: .relaxed) },
            failure: { [self] _ in failures.add(1, ordering: .relaxed) })
        if !isStarted { starts.subtract(1, ordering: .relaxed) }
    }

    /// Watches the next run of a request that a group starts.
    func watch<C: Command>(_ request: Request<C>) {
        request.delegate = self
        request.whenDone(completion: { [self] in noteEnd(of: $0) })
    }

    private func noteEnd<C: Command>(of request: Request<C>) {
        if ClientWalkMeter.counts(request.command), let sends = ClientWalkMeter.sends(request.response) {
            let resends = request.resends
            let replays = resends.count { $0 == .authentication }
            replayed.add(replays, ordering: .relaxed)
            if replays != sends - 1 { miscounted.add("\(sends) sends, and the resends \(resends.map(\.label))") }
        }
        completions.add(1, ordering: .relaxed)
    }

    func requestFinished(_ request: AnyRequest) { delegated.add(1, ordering: .relaxed) }
    func requestFailed(_ request: AnyRequest) { delegated.add(1, ordering: .relaxed) }

    /// The replays of the runs whose authentication alone sends again.
    var replays: Int { replayed.load(ordering: .relaxed) }
    /// The runs whose ledger has another number of replays than were sent.
    var miscounts: [String] { miscounted.all }

    /// The runs that have ended.
    var ended: Int { completions.load(ordering: .relaxed) }

    /// Whether every run has ended.
    var isSettled: Bool { ended >= starts.load(ordering: .relaxed) }

    /// Whether each run has told its end once to everybody.
    var isEven: Bool {
        let count = starts.load(ordering: .relaxed)
        return ended == count && delegated.load(ordering: .relaxed) == count
            && successes.load(ordering: .relaxed) + failures.load(ordering: .relaxed) == count
    }

    /// The same of a request whose group starts it, once or several times. Its closures are those of the first run.
    var isEvenInGroup: Bool { ended == min(delegated.load(ordering: .relaxed), 1) }

    var description: String {
        "\(starts.load(ordering: .relaxed)) starts, \(ended) completions, "
            + "\(successes.load(ordering: .relaxed)) successes, \(failures.load(ordering: .relaxed)) failures, "
            + "\(delegated.load(ordering: .relaxed)) at the delegate"
    }
}
