import Synchronization

/// Runs a batch's children for its request.
///
/// The machine decides under the lock; children are made, started and stopped, and ends delivered, after it. A child is
/// entered before it is started, and looked at once more after that: a stop that came in between found nothing to stop.
///
/// `@unchecked Sendable`: everything that varies is in the mutex.
final class BatchCarrier<Element: Sendable>: GroupCarrier, @unchecked Sendable {
    private struct Core: ~Copyable {
        var machine = BatchStateMachine()
        /// Of the present run: its number tells an end that comes late from one of the present run.
        var run: UInt64 = 0
        var parent: AnyRequest?
        var isPaused = false
        var running: [Int: AnyRequest] = [:]
        var results: [Result<Element, ErrandError>?] = []
        var timer: Task<Void, Never>?
    }

    private let batch: Batch<Element>
    private let core = Mutex(Core())

    init(_ batch: Batch<Element>) {
        self.batch = batch
    }

    /// The children that run now, in order.
    var running: [AnyRequest] {
        core.withLock { $0.running }.sorted { $0.key < $1.key }.map(\.value)
    }

    /// How many have ended, and how many there are.
    var progress: (ended: Int, count: Int) {
        core.withLock { core in (core.results.count { $0 != nil }, batch.members.count) }
    }

    override func value() -> (any Sendable)? {
        let results = core.withLock { $0.results }
        return BatchResult(results: results.map { $0 ?? .failure(.cancelled) })
    }

    // MARK: The request's orders

    override func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        guard let parent = receiver as? AnyRequest else { throw .internalFailure }
        guard batch.maxConcurrent > 0 else {
            throw ErrandError.invalidArgument.with(message: "maxConcurrent is \(batch.maxConcurrent), not above 0")
        }
        if case .quorum(let needed) = batch.policy, !(0...batch.members.count).contains(needed) {
            throw ErrandError.invalidArgument.with(
                message: "a quorum of \(needed) among \(batch.members.count) children")
        }
        let (run, action) = core.withLock { core in
            core.run += 1
            core.parent = parent
            core.isPaused = false
            core.results = Array(repeating: nil, count: batch.members.count)
            let action = core.machine.started(
                count: batch.members.count, width: batch.maxConcurrent, policy: batch.policy)
            return (core.run, action)
        }
        if let total = description.settings.timeouts.total { startTimer(total, run) }
        perform(action, run)
        return TransferID(rawValue: run)
    }

    private func startTimer(_ total: Duration, _ run: UInt64) {
        let timer = Task { [self] in
            try? await Task.sleep(for: total, clock: .continuous)
            if !Task.isCancelled { stop(.timedOut, run) }
        }
        core.withLock { $0.timer = timer }
    }

    override func cancel(_ id: TransferID) {
        stop(.stopped, id.rawValue)
    }

    private func stop(_ ending: BatchStateMachine.Ending, _ run: UInt64) {
        perform(core.withLock { $0.run == run ? $0.machine.stopRequested(ending) : .none }, run)
    }

    override func pause(_ id: TransferID) { setPaused(true, id) }

    override func resume(_ id: TransferID) { setPaused(false, id) }

    private func setPaused(_ isPaused: Bool, _ id: TransferID) {
        let children = core.withLock { core -> [AnyRequest] in
            guard core.run == id.rawValue else { return [] }
            core.isPaused = isPaused
            return Array(core.running.values)
        }
        for child in children { isPaused ? child.pause() : child.resume() }
    }

    // MARK: The machine's orders

    private func perform(_ action: BatchStateMachine.Action, _ run: UInt64) {
        switch action {
        case .none:
            break
        case .start(let indices):
            guard let client = core.withLock({ $0.parent })?.client else { return }
            for index in indices { start(index, by: client, run) }
        case .stopRunning:
            for child in running { child.stop() }
        case .end(let ending):
            end(ending)
        }
    }

    private func start(_ index: Int, by client: Client, _ run: UInt64) {
        let child = batch.members.make(index, client)
        let isWanted = core.withLock { core in
            guard core.machine.mayStart else { return false }
            core.running[index] = child.request
            return true
        }
        guard isWanted else { return ended(index, .failure(.cancelled), run) }
        guard child.start({ [self] in ended(index, $0, run) }) else {
            let error = ErrandError.invalidArgument.with(message: "child \(index) runs already")
            // Not from here: thousands of such children would stand on each other.
            return client.callbacks.async { [self] in ended(index, .failure(error), run) }
        }
        let (isPaused, isStopped) = core.withLock { ($0.isPaused, !$0.machine.mayStart) }
        if isPaused { child.request.pause() }
        if isStopped { child.request.stop() }
    }

    private func ended(_ index: Int, _ result: Result<Element, ErrandError>, _ run: UInt64) {
        var isSuccess = false
        if case .success = result { isSuccess = true }
        let action = core.withLock { core in
            core.running[index] = nil
            core.results[index] = result
            return core.machine.childEnded(index, succeeded: isSuccess)
        }
        perform(action, run)
    }

    private func end(_ ending: BatchStateMachine.Ending) {
        let (parent, timer, failure) = core.withLock { core in
            var failure: ErrandError?
            if case .failed(let index) = ending, case .failure(let error)? = core.results[index] {
                failure = .groupFailed.with(
                    message: "child \(index) failed: \(error)", response: error.response,
                    underlying: GroupFailure(index: index, error: error))
            }
            return (core.parent.take(), core.timer.take(), failure)
        }
        timer?.cancel()
        guard let parent else { return }
        let result: TransferResult =
            switch ending {
            case .succeeded: .response(Response(statusCode: 0))
            case .failed where parent.client.isStopping, .stopped: .failure(.cancelled)
            case .failed: .failure(failure ?? .internalFailure)
            case .timedOut: .failure(.timeoutTotal)
            }
        TransferReceiver.deliver(CollectionOfOne(TransferEvent(parent, .ended(result))))
    }
}
