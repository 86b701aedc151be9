extension AnyRequest {
    /// The requests that a group is running now, in order; empty for any other request. Any thread.
    public final var children: [AnyRequest] { groupDriver?.children ?? [] }

    /// The child that failed the group: the first failed child of a batch or a graph, the last step of a chain. While
    /// the group runs, the child that would fail it. `nil` if the group succeeded, if the child was never made,
    /// and for any other request. Any thread. (YTKNetwork `failedRequest`.)
    public final var failedRequest: AnyRequest? { groupDriver?.failedRequest }

    /// The results of a group's children so far, or of the last run; empty for any other request. Any thread. The
    /// request of a batch also has ``Request/results``, with the types of the values.
    @_disfavoredOverload
    public final var results: GroupResults { groupDriver?.results ?? GroupResults() }
}

extension AnyRequest {
    /// Calls `observe` on the callback queue whenever a child of this group's next run has ended, with the number of
    /// children that have ended and the number of all children. For a chain the number of all children is `nil`,
    /// because it is not known, and each repetition of a step counts. The closure is released at the end of the run.
    /// Does nothing for any other request.
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

        func requestWillStart(_ request: AnyRequest) {}
        func requestWillStop(_ request: AnyRequest) {}
        func requestDidStop(_ request: AnyRequest) {}
    }
}

extension Request {
    /// Adds a step at the end of a chain, from any thread: to the run in progress, or to the first run before it has
    /// started. Throws ``ErrandError/invalidArgument`` if the chain has ended or is about to end (YTKNetwork
    /// `addRequest:callback:`).
    public func add<Value: Sendable>(_ step: ChainStep) throws(ErrandError) where C == Chain<Value> {
        guard let chain = group as? ChainCarrier<Value>, chain.add(step) else {
            throw ErrandError.invalidArgument.with(message: "the chain has ended")
        }
    }
}

/// The request of a batch (YTKNetwork `YTKBatchRequest`).
public typealias BatchRequest<Value: Sendable> = Request<Batch<Value>>

/// The request of a chain (YTKNetwork `YTKChainRequest`).
public typealias ChainRequest<Value: Sendable> = Request<Chain<Value>>

extension AnyRequest {
    /// The driver that runs the children, if this is the request of a group.
    final var groupDriver: GroupDriver? { group as? GroupDriver }
}
