import Synchronization

/// Runs a chain's steps.
///
/// `@unchecked Sendable`: see ``GroupDriver``.
final class ChainCarrier<Value: Sendable>: GroupDriver, @unchecked Sendable {
    private let chain: Chain<Value>
    // All of these are read and written only inside `core.withLock`.
    private nonisolated(unsafe) var chainMachine = ChainStateMachine()
    private nonisolated(unsafe) var steps: [ChainStep] = []
    private nonisolated(unsafe) var gathered = GroupResults()
    /// Steps that were added for the next run.
    private nonisolated(unsafe) var added: [ChainStep] = []
    /// The command and the request of the step that runs.
    private nonisolated(unsafe) var command: (any Command.Type)?
    private nonisolated(unsafe) var request: AnyRequest?
    /// How often the present step has succeeded, or failed, in a row.
    private nonisolated(unsafe) var repetition = (step: -1, isSuccess: true, count: 0)
    private nonisolated(unsafe) var abortedBy: ErrandError?

    init(_ chain: Chain<Value>) {
        self.chain = chain
    }

    /// The results of the present or last run.
    override var results: GroupResults { core.withLock { _ in gathered } }

    /// Adds a step at the end. Returns false if the chain has ended.
    func add(_ step: ChainStep) -> Bool {
        core.withLock { core in
            if case .idle = chainMachine.state {
                added.append(step)
                return true
            }
            guard chainMachine.appendRequested(steps.count) else { return false }
            steps.append(step)
            return true
        }
    }

    override func value() -> (any Sendable)? { chain.value(results) }

    override func takeResults() -> any Sendable {
        let left = (gathered, abortedBy)
        gathered = GroupResults()
        abortedBy = nil
        return left
    }

    /// Callbacks of added steps may hold a reference to the chain's own request.
    override func detachState() -> any Sendable {
        let left = steps
        steps = []
        return left
    }

    override func began() -> GroupAction {
        steps = chain.steps + added
        added = []
        repetition.step = -1
        return chainMachine.started(steps: Array(steps.indices))
    }

    override func childEnded(_ index: Int, succeeded: Bool) -> GroupAction {
        chainMachine.childEnded(index, succeeded: succeeded)
    }

    override func stopRequested(_ ending: GroupEnding) -> GroupAction { chainMachine.stopRequested(ending) }

    override var mayStart: Bool { chainMachine.mayStart }

    override func child(_ index: Int, by client: Client) throws(ErrandError) -> GroupChild {
        let (step, results) = core.withLock { _ in (steps[index], gathered) }
        do {
            let made = try step.make(client, results)
            let child = made.child { [self] in enter(index, $0) }
            core.withLock { _ in (command, request) = (made.command, child.request) }
            return child
        } catch let error as ErrandError {
            throw error
        } catch {
            throw .interceptionFailed.with(message: "the step could not be created: \(error)", underlying: error)
        }
    }

    override func keep(_ error: ErrandError, of index: Int) {
        enter(index, .failure(error))
    }

    private func enter(_ index: Int, _ result: Result<any Sendable, ErrandError>) {
        var isSuccess = false
        if case .success = result { isSuccess = true }
        core.withLock { _ in
            gathered.add(
                .init(
                    index: gathered.entries.count, name: steps[index].name, result: result, command: command,
                    request: request))
            (command, request) = (nil, nil)
            if repetition.step != index || repetition.isSuccess != isSuccess { repetition = (index, isSuccess, 0) }
            repetition.count += 1
        }
    }

    override func ask(_ index: Int, _ run: UInt64) {
        let (step, results, count, chain) = core.withLock { core in
            (steps[index], gathered, repetition.count, core.parent)
        }
        guard let chain else { return }
        var moves = ChainMoves()
        switch results.last?.result {
        case .success(let value)?:
            moves = step.succeeded(value, results.last?.request, chain, results, count)
        case .failure(let error)?:
            switch step.failed(error, count) {
            case .abort: moves.decision = .abort
            case .retry(let delay): moves.decision = .again(delay)
            case .skip: break
            case .replace(let other): moves.inserted = [other]
            }
        case nil:
            moves.decision = .abort
        }
        // A stop may have come before the request counted the chain as running. It has then not reached the chain yet.
        let isStopped = chain.isStopped
        // Both are released after the lock, because releasing them may run user code.
        var failed: AnyRequest?
        var replaced: GroupResults.Entry?
        let action = core.withLock { core in
            if moves.decision == .abort {
                failed = results.last?.request
                swap(&failed, &core.failed)
            }
            if isStopped { _ = chainMachine.stopRequested(.stopped) }
            abortedBy = moves.error
            let first = steps.count
            steps += moves.inserted + moves.appended
            if case .again = moves.decision { replaced = gathered.forgetLast() }
            let middle = first + moves.inserted.count
            return chainMachine.decided(
                moves.decision, inserted: Array(first..<middle), appended: Array(middle..<steps.count))
        }
        _ = (failed, replaced)
        perform(action, run)
    }

    override func failure(by index: Int) -> ErrandError {
        guard let last = gathered.last else { return .internalFailure }
        var error = abortedBy
        if case .failure(let own) = last.result { error = error ?? own }
        return .group(failedBy: last.index, named: last.name, error ?? .internalFailure)
    }

    override var isSequence: Bool { true }

    override func delayElapsed() -> Bool { chainMachine.delayElapsed() }
}
