/// A step of a ``Chain``: a command, or how to make one of what came before; and who decides how the chain goes on.
///
/// ```swift
/// ChainStep(Login(user: "ada")) { turn in
///     if turn.value.isNew { turn.insert(ChainStep(Welcome())) }
/// }
/// ```
///
/// `then` and `onFailure` are called on the callback queue, when everybody else has been told of the step's end. A
/// closure that stands behind the parentheses alone is `then`. (YTKNetwork `YTKChainCallback`.)
public struct ChainStep: Sendable {
    /// What the step is called in ``GroupResults`` and errors.
    public let name: String?

    let make: @Sendable (Client, GroupResults) throws -> Made
    /// What its callback decided.
    let succeeded: @Sendable (any Sendable, AnyRequest?, AnyRequest, GroupResults, Int) -> ChainMoves
    let failed: @Sendable (ErrandError, Int) -> ChainRecovery

    /// A step's request, and how to start it.
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
    ///   - name: What ``GroupResults`` and errors call it; need not be the only one of that name.
    ///   - then: Called after a success. Default: the chain goes on.
    ///   - onFailure: Called with the error and how often the step has failed in a row. Default: the chain fails.
    public init<C: Command>(
        _ command: C, name: String? = nil, then: @escaping @Sendable (inout ChainTurn<C>) -> Void = { _ in },
        onFailure: @escaping @Sendable (ErrandError, Int) -> ChainRecovery = { _, _ in .abort }
    ) {
        self.init(name: name, onFailure: onFailure, then: then) { client, _ in client.request(command) }
    }

    /// A step that runs this request, which keeps its delegate, its accessories and its closures
    /// (``Request/whenDone(completion:success:failure:)``). One that runs already has failed with ``ErrandError/invalidArgument``.
    public init<C: Command>(
        _ request: Request<C>, name: String? = nil,
        then: @escaping @Sendable (inout ChainTurn<C>) -> Void = { _ in },
        onFailure: @escaping @Sendable (ErrandError, Int) -> ChainRecovery = { _, _ in .abort }
    ) {
        self.init(name: name, onFailure: onFailure, then: then) { _, _ in request }
    }

    /// A step whose command is made, on the thread that starts it, when its turn has come. What `make` throws is the
    /// step's failure: an ``ErrandError`` as it is, any other error beneath ``ErrandError/interceptionFailed``.
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

/// How a chain goes on after a step has failed.
public enum ChainRecovery: Sendable {
    /// The chain fails with ``ErrandError/groupFailed``. What every step does that says nothing.
    case abort
    /// The step runs again after so much time, 0 by default, from the same command or closure. The wait ends with a
    /// stop and with the chain's total time.
    case retry(after: Duration = .zero)
    /// The chain goes on with the next step; the failure stays in ``GroupResults``. In a chain by types the next step
    /// has no value to be made of.
    case skip
    /// This step, with its own name and closures, runs in place of the one that failed.
    case replace(ChainStep)
}
