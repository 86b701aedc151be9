import Synchronization

/// Runs a graph's members.
///
/// `@unchecked Sendable`: see ``GroupDriver``.
final class GraphCarrier: GroupDriver, @unchecked Sendable {
    private let graph: RequestGraph
    private let plan: Result<GroupStateMachine.Plan, ErrandError>
    // All of these are read and written only inside `core.withLock`.
    private nonisolated(unsafe) var gathered = GroupResults()
    private nonisolated(unsafe) var made: [Int: (command: any Command.Type, request: AnyRequest)] = [:]

    init(_ graph: RequestGraph) {
        self.graph = graph
        plan = Result { () throws(ErrandError) in try graph.plan() }
    }

    /// The results of the present or last run.
    override var results: GroupResults { core.withLock { _ in gathered } }

    override func value() -> (any Sendable)? { results }

    override var count: Int? { graph.members.count }

    override func check() throws(ErrandError) { _ = try plan.get() }

    override func takeResults() -> any Sendable {
        let left = gathered
        gathered = GroupResults()
        return left
    }

    override func began() -> GroupAction {
        made = [:]
        guard case .success(let plan) = plan else { return .end(.stopped) }
        return machine.started(plan)
    }

    override func child(_ index: Int, by client: Client) throws(ErrandError) -> GroupChild {
        do {
            let made = try graph.members[index].make(client, results)
            let child = made.child { [self] in enter(index, $0) }
            core.withLock { _ in self.made[index] = (made.command, child.request) }
            return child
        } catch let error as ErrandError {
            throw error
        } catch {
            let name = graph.members[index].name
            throw .interceptionFailed.with(message: "'\(name)' could not be created: \(error)", underlying: error)
        }
    }

    override func keep(_ error: ErrandError, of index: Int) {
        enter(index, .failure(error))
    }

    private func enter(_ index: Int, _ result: Result<any Sendable, ErrandError>) {
        core.withLock { _ in
            let made = made.removeValue(forKey: index)
            gathered.add(
                .init(
                    index: index, name: graph.members[index].name, result: result, command: made?.command,
                    request: made?.request))
        }
    }

    override func failure(by index: Int) -> ErrandError {
        for entry in gathered.entries where entry.index == index {
            if case .failure(let error) = entry.result { return .group(failedBy: index, named: entry.name, error) }
        }
        return .internalFailure
    }
}
