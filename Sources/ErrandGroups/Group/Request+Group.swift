extension AnyRequest {
    /// The requests that a group runs now, in order; empty for any other request. Any thread.
    public final var children: [AnyRequest] { groupDriver?.children ?? [] }

    /// The child that a group failed by: the first that failed of a batch or a graph, the last step of a chain. While the
    /// group runs, the one that would be. `nil` where the group succeeded, where the child was never made, and for any
    /// other request. Any thread. (YTKNetwork `failedRequest`.)
    public final var failedRequest: AnyRequest? { groupDriver?.failedRequest }

    /// What the steps of a chain or the members of a graph have ended with so far, or in the last run; empty for any other
    /// request. Any thread.
    public final var groupResults: GroupResults { groupDriver?.results ?? GroupResults() }
}

extension AnyRequest {
    /// Calls `observe`, on the callback queue, whenever a child of this group's next run has ended: so many have, and
    /// there are so many. Of a chain that is not known and `nil`, and each repetition counts. Released at the end of
    /// the run. Does nothing for any other request.
    public final func onAdvance(_ observe: @escaping @Sendable (_ ended: Int, _ count: Int?) -> Void) {
        addAccessory(AdvanceObserver(observe))
    }

    private final class AdvanceObserver: EventAccessory {
        private let observe: @Sendable (Int, Int?) -> Void

        init(_ observe: @escaping @Sendable (Int, Int?) -> Void) {
            self.observe = observe
        }

        func request(_ request: AnyRequest, did event: RequestEvent) {
            if case .advanced(let ended, let count) = event { observe(ended, count) }
        }
    }
}

extension Request {
    /// Adds a step at the end of a chain, from any thread: of the run that is under way, or of the first one. Throws
    /// ``ErrandError/invalidArgument`` where the chain is over or about to be (YTKNetwork `addRequest:callback:`).
    public func add<Value: Sendable>(_ step: ChainStep) throws(ErrandError) where C == Chain<Value> {
        guard let chain = group as? ChainCarrier<Value>, chain.add(step) else {
            throw ErrandError.invalidArgument.with(message: "the chain is over")
        }
    }
}

/// The request of a batch (YTKNetwork `YTKBatchRequest`).
public typealias BatchRequest<Value: Sendable> = Request<Batch<Value>>

/// The request of a chain (YTKNetwork `YTKChainRequest`).
public typealias ChainRequest<Value: Sendable> = Request<Chain<Value>>

extension AnyRequest {
    /// What runs the children, where this is a group's request.
    final var groupDriver: GroupDriver? { group as? GroupDriver }
}
