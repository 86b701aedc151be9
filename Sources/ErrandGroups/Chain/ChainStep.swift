/// A step of a ``Chain``. It has a command, or a closure that makes a command from earlier results, and closures that
/// decide how the chain continues.
///
/// ```swift
/// ChainStep(Login(user: "ada")) { turn in
///     if turn.value.isNew { turn.insert(ChainStep(Welcome())) }
/// }
/// ```
///
/// `then` and `onFailure` are called on the callback queue, after all other callbacks for the end of the step. A single
/// trailing closure is `then`. (YTKNetwork `YTKChainCallback`.)
public struct ChainStep: Sendable {
    /// The name of the step in ``GroupResults`` and in errors.
    public let name: String?

    let make: @Sendable (Client, GroupResults) throws -> Made
    /// The decision of the callback.
    let succeeded: @Sendable (any Sendable, AnyRequest?, AnyRequest, GroupResults, Int) -> ChainMoves
    let failed: @Sendable (ErrandError, Int) -> ChainRecovery

    /// A step's request and the closure that starts it.
    struct Made: Sendable {
        let command: any Command.Type
        let child: @Sendable (@escaping @Sendable (Result<any Sendable, ErrandError>) -> Void) -> GroupChild

        init<C: Command>(_ request: Request<C>) {
            command = C.self
            child = { keep in GroupChild(request) { keep($0.map { $0 }) } }
        }
    }

    /// A step that runs `command`, which may be a ``Batch``, a ``RequestGraph`` or another chain.
    ///
    /// - Parameters:
    ///   - command: The command of the step.
    ///   - name: The step's name in ``GroupResults`` and errors; several steps may share a name.
    ///   - then: Called after a success. Default: the chain continues.
    ///   - onFailure: Called with the error and the number of failures of this step in a row. Default: the chain fails.
    public init<C: Command>(
        _ command: C, name: String? = nil, then: @escaping @Sendable (inout ChainTurn<C>) -> Void = { _ in },
        onFailure: @escaping @Sendable (ErrandError, Int) -> ChainRecovery = { _, _ in .abort }
    ) {
        self.init(name: name, onFailure: onFailure, then: then) { client, _ in client.request(command) }
    }

    /// A step that runs this request, which keeps its delegate, its accessories and its closures
    /// (``Request/whenDone(completion:success:failure:)``). A request that already runs fails the step with
    /// ``ErrandError/invalidArgument``.
    public init<C: Command>(
        _ request: Request<C>, name: String? = nil,
        then: @escaping @Sendable (inout ChainTurn<C>) -> Void = { _ in },
        onFailure: @escaping @Sendable (ErrandError, Int) -> ChainRecovery = { _, _ in .abort }
    ) {
        self.init(name: name, onFailure: onFailure, then: then) { _, _ in request }
    }

    /// A step that makes its command when its turn comes, on the thread that starts the step. An error that `make`
    /// throws is the step's failure: an ``ErrandError`` unchanged, any other error wrapped in
    /// ``ErrandError/interceptionFailed``.
    public init<C: Command>(
        name: String? = nil, make: @escaping @Sendable (GroupResults) throws -> C,
        then: @escaping @Sendable (inout ChainTurn<C>) -> Void = { _ in },
        onFailure: @escaping @Sendable (ErrandError, Int) -> ChainRecovery = { _, _ in .abort }
    ) {
        self.init(name: name, onFailure: onFailure, then: then) { client, results in
            client.request(try make(results))
        }
    }

    private init<C: Command>(
        name: String?, onFailure: @escaping @Sendable (ErrandError, Int) -> ChainRecovery,
        then: @escaping @Sendable (inout ChainTurn<C>) -> Void,
        request: @escaping @Sendable (Client, GroupResults) throws -> Request<C>
    ) {
        self.name = name
        make = { client, results in Made(try request(client, results)) }
        succeeded = { value, request, chain, results, runs in
            guard let value = value as? C.Response, let request = request as? Request<C> else { return ChainMoves() }
            var turn = ChainTurn<C>(value: value, request: request, chain: chain, results: results, runs: runs)
            then(&turn)
            return turn.moves
        }
        failed = onFailure
    }
}

/// How a chain continues after a step has failed.
public enum ChainRecovery: Sendable {
    /// The chain fails with ``ErrandError/groupFailed``. The default of every step.
    case abort
    /// The step runs again after this delay, 0 by default, from the same command or closure. The wait ends early when
    /// the chain is stopped or its total time is up.
    case retry(after: Duration = .zero)
    /// The chain continues with the next step; the failure stays in ``GroupResults``. In a typed chain the next step
    /// then has no value to make its command from.
    case skip
    /// This step runs instead of the failed one, with its own name and closures.
    case replace(ChainStep)
}
