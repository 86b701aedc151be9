import Errand
import Synchronization

/// What a walk has begun, and what has ended.
final class ClientWalkLedger: Sendable {
    private let started = Mutex<[ClientWalkEnds]>([])
    private let watched = Mutex<[ClientWalkEnds]>([])
    private let made = Mutex<[ClientWalkSource]>([])
    /// The `async` calls of the client.
    let calls = ClientWalkCount()
    /// The tasks that wait for the end of a request that somebody else has started.
    let waits = ClientWalkCount()
    let shutdowns = ClientWalkCount()
    /// The tasks that read a streamed response.
    let streams = ClientWalkCount()
    /// What the walk has done, in order.
    let steps = Notes<String>()

    /// The ends of a request that the walk starts.
    func newRequest() -> ClientWalkEnds {
        let ends = ClientWalkEnds()
        started.withLock { $0.append(ends) }
        return ends
    }

    /// The ends of a request that a group starts.
    func newChild() -> ClientWalkEnds {
        let ends = ClientWalkEnds()
        watched.withLock { $0.append(ends) }
        return ends
    }

    func add(_ source: ClientWalkSource) { made.withLock { $0.append(source) } }

    /// The requests that the walk has started.
    var requests: [ClientWalkEnds] { started.withLock { $0 } }
    /// The requests that groups have started.
    var children: [ClientWalkEnds] { watched.withLock { $0 } }
    var sources: [ClientWalkSource] { made.withLock { $0 } }

    /// The runs, calls and streams that have ended.
    var ended: Int { requests.reduce(calls.ended + streams.ended) { $0 + $1.ended } }

    /// The replays that authentication has asked for, as far as they are counted.
    var replays: Int { (requests + children).reduce(0) { $0 + $1.replays } }

    /// What has not ended, for a walk that fails.
    var unsettled: String {
        let open = requests.count { !$0.isSettled }
        let counts = [("calls", calls), ("waits", waits), ("streams", streams), ("shutdowns", shutdowns)]
        return "\(open) requests" + counts.map { ", \($0.1.begun - $0.1.ended) \($0.0)" }.joined()
    }

    /// Whether every run, call, wait and stream has ended.
    var isSettled: Bool {
        calls.isSettled && waits.isSettled && streams.isSettled && requests.allSatisfy(\.isSettled)
    }
}
