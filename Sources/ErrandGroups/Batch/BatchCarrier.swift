import Synchronization

/// Runs a batch's children.
///
/// `@unchecked Sendable`: see ``GroupDriver``.
final class BatchCarrier<Element: Sendable>: GroupDriver, @unchecked Sendable {
    private let batch: Batch<Element>
    // All of these are read and written only inside `core.withLock`.
    private nonisolated(unsafe) var ends: [Result<Element, ErrandError>?] = []
    private nonisolated(unsafe) var reader: CompletedResults<Element>.Reader?

    init(_ batch: Batch<Element>) {
        self.batch = batch
    }

    /// Sets the reader that receives each result of the next run. Returns false if there is a reader already.
    func read(by reader: CompletedResults<Element>.Reader) -> Bool {
        core.withLock { core in
            guard self.reader == nil else { return false }
            self.reader = reader
            core.isRead = true
            return true
        }
    }

    func endReading() {
        let reader = core.withLock { core in
            core.isRead = false
            return self.reader.take()
        }
        _ = reader
    }

    /// The result of each child of the present or last run; `nil`: the child has not ended.
    var typedResults: [Result<Element, ErrandError>?] { core.withLock { _ in ends } }

    override var results: GroupResults {
        var results = GroupResults()
        for (index, result) in typedResults.enumerated() {
            guard let result else { continue }
            let command = batch.members.type(index)
            results.add(.init(index: index, name: nil, result: result.map { $0 }, command: command, request: nil))
        }
        return results
    }

    override func value() -> (any Sendable)? {
        BatchResult(results: typedResults.map { $0 ?? .failure(.cancelled) })
    }

    override var count: Int? { batch.members.count }

    override func check() throws(ErrandError) {
        guard batch.members.count >= 0 else {
            throw ErrandError.invalidArgument.with(
                message: "the batch has \(batch.members.count) children, expected 0 or more")
        }
        guard batch.maxConcurrent > 0 else {
            throw ErrandError.invalidArgument.with(
                message: "'maxConcurrent' is \(batch.maxConcurrent), expected 1 or more")
        }
        if case .quorum(let needed) = batch.policy, !(0...batch.members.count).contains(needed) {
            throw ErrandError.invalidArgument.with(
                message: "the quorum is \(needed), expected 0 to \(batch.members.count), the number of children")
        }
    }

    override func takeResults() -> any Sendable {
        let left = ends
        ends = []
        return left
    }

    override func began() -> GroupAction {
        ends = Array(repeating: nil, count: batch.members.count)
        return machine.started(
            .init(count: batch.members.count, width: batch.maxConcurrent, policy: batch.policy))
    }

    override func child(_ index: Int, by client: Client) throws(ErrandError) -> GroupChild {
        batch.members.make(index, client) { [self] result in
            core.withLock { _ in ends[index] = result }
        }
    }

    override func keep(_ error: ErrandError, of index: Int) {
        core.withLock { _ in ends[index] = .failure(error) }
    }

    override func failure(by index: Int) -> ErrandError {
        guard case .failure(let error)? = ends[index] else { return .internalFailure }
        return .group(failedBy: index, named: nil, error)
    }

    override func report(_ index: Int) {
        let reader = core.withLock { _ in self.reader }
        if let reader, let result = core.withLock({ _ in ends[index] }) { reader.give(index, result) }
    }
}
