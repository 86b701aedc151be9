/// A step of a chain has succeeded: what it got, and how the chain is to go on. It goes on with the next step unless
/// told otherwise; of ``again(after:)``, ``skip(_:)``, ``finish()`` and ``abort(_:)`` the one that is called last
/// counts.
/// (YTKNetwork `YTKChainCallback`.)
public struct ChainTurn<C: Command>: Sendable {
    /// The command's value.
    public let value: C.Response
    /// What ran. Its ``AnyRequest/stop()`` comes too late: see ``chain``.
    public let request: Request<C>
    /// The chain's own request, which may be stopped here.
    public let chain: AnyRequest
    /// Of all steps so far, this one included.
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

    /// These steps come next, in this order, before those that are left.
    public mutating func insert(_ steps: ChainStep...) { moves.inserted += steps }

    /// These steps come after all that are left (YTKNetwork `addRequest:callback:`).
    public mutating func append(_ steps: ChainStep...) { moves.appended += steps }

    /// The step runs again after so much time, 0 by default, before anything that was inserted. The wait ends with a
    /// stop and with the chain's total time.
    public mutating func again(after delay: Duration = .zero) { moves.decision = .again(delay) }

    /// So many of the steps that are left are passed over, inserted ones first. Default: one. More than are left is
    /// all of them, less than none is none.
    public mutating func skip(_ count: Int = 1) { moves.decision = .skip(max(0, count)) }

    /// The chain succeeds here; what is left is not run.
    public mutating func finish() { moves.decision = .finish }

    /// The chain fails with ``ErrandError/groupFailed``. `error` is its ``GroupFailure/error`` as it is, or beneath
    /// ``ErrandError/validationFailed``.
    public mutating func abort(_ error: any Error) {
        moves.decision = .abort
        moves.error =
            error as? ErrandError
            ?? .validationFailed.with(
                message: "the step's callback did not accept the response: \(error)", response: request.response,
                underlying: error)
    }
}

/// What a step's callback decided.
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
