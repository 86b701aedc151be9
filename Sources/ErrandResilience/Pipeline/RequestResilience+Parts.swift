/// The parts that a command replaces.
struct ResilienceReplacement: ResilienceChoice {
    let retry: RetryPolicy?
    let hedge: HedgePolicy?
    let name: String?
}

extension RequestResilience {
    /// Replaces parts of ``Client/Configuration/resilience``; a part that is `nil` is that of the client.
    ///
    /// ```swift
    /// struct Search: Command {
    ///     var path: String { "search" }
    ///     var resilience: RequestResilience? { .init(retry: .never, hedge: HedgePolicy(), name: "search") }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - retry: when the requests are sent again; ``RetryPolicy/never``: never.
    ///   - hedge: when the requests are sent twice; ``HedgePolicy/never``: never.
    ///   - name: what the budget, the breaker, the limits and the latencies of these requests are kept by, in place of
    ///     the origin. Requests of one name share them, also across origins (a bulkhead of their own).
    public init(retry: RetryPolicy? = nil, hedge: HedgePolicy? = nil, name: String? = nil) {
        self.init(ResilienceReplacement(retry: retry, hedge: hedge, name: name))
    }
}

extension RequestDescription {
    /// Whether no part applies to the request.
    var isExempt: Bool { resilience.map { $0.choice == nil } ?? false }

    var replacedResilience: ResilienceReplacement? { resilience?.choice as? ResilienceReplacement }
}
