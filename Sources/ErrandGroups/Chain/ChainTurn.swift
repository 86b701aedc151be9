/// The success of a chain's step: its value, and how the chain is to continue. By default the chain continues with the
/// next step. If several of ``again(after:)``, ``skip(_:)``, ``finish()`` and ``abort(_:)`` are called, the last call
/// counts. (YTKNetwork `YTKChainCallback`.)
public struct ChainTurn<C: Command>: Sendable {
    /// The command's value.
    public let value: C.Response
    /// The request of the step. Its ``AnyRequest/stop()`` has no effect any more; see ``chain``.
    public let request: Request<C>
    /// The chain's own request, which may be stopped here.
    public let chain: AnyRequest
    /// The results of all steps so far, this one included.
    public let results: GroupResults
    /// How often this step has succeeded in a row, this time included.
    public let runs: Int

    var moves = ChainMoves()

    init(value: C.Response, request: Request<C>, chain: AnyRequest, results: GroupResults, runs: Int) {
        self.value = value
        self.request = request
        self.chain = chain
        self.results = results
        self.runs = runs
    }

    /// Runs these steps next, in this order, before the remaining steps.
    public mutating func insert(_ steps: ChainStep...) { moves.inserted += steps }

    /// Runs these steps after all remaining steps (YTKNetwork `addRequest:callback:`).
    public mutating func append(_ steps: ChainStep...) { moves.appended += steps }

    /// Runs this step again after this delay, 0 by default, before any inserted steps. The wait ends early when the
    /// chain is stopped or its total time is up.
    public mutating func again(after delay: Duration = .zero) { moves.decision = .again(delay) }

    /// Skips this number of the remaining steps, inserted ones first. Default: one. A number above the remaining steps
    /// skips all of them, a negative number none.
    public mutating func skip(_ count: Int = 1) { moves.decision = .skip(max(0, count)) }

    /// Ends the chain with success; the remaining steps do not run.
    public mutating func finish() { moves.decision = .finish }

    /// Fails the chain with ``ErrandError/groupFailed``. `error` becomes its ``GroupFailure/error``: an `ErrandError`
    /// unchanged, any other error wrapped in ``ErrandError/validationFailed``.
    public mutating func abort(_ error: any Error) {
        moves.decision = .abort
        moves.error =
            error as? ErrandError
            ?? .validationFailed.with(
                message: "the step's callback rejected the response: \(error)", response: request.response,
                underlying: error)
    }
}

/// The decision of a step's callback.
struct ChainMoves: Sendable {
    enum Decision: Sendable, Equatable {
        case goOn
        case again(Duration)
        case skip(Int)
        case finish
        case abort
    }

    var inserted: [ChainStep] = []
    var appended: [ChainStep] = []
    var decision = Decision.goOn
    var error: ErrandError?
}
