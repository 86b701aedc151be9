import HTTPTypes

/// What a transfer does after the cache was looked at.
enum CacheAction: Sendable {
    /// `revalidation`: what the server is asked in the background.
    case serve(Response, CacheSource, revalidation: CacheQuestion?)
    case ask(CacheQuestion)
    case fail(CacheMiss)
}

/// What the network is asked, and what the cache wants to know of the answer.
enum CacheQuestion: Sendable {
    /// Nothing: it is none of the cache's.
    case none
    /// Nothing: it has a policy, but is not cacheable.
    case passed(ResponseCachePlan, CacheStatus.Forward)
    case timed(TimedExchange)
    case http(HTTPExchange, conditions: HTTPFields)

    /// What the answer would be removed by, were it stored; `nil`: it is not.
    var removalNames: [String]? {
        switch self {
        case .none, .passed: nil
        case .timed(let exchange): exchange.plan.members.tags + [exchange.key.removalName]
        case .http(let exchange, _): exchange.tags.map { $0 + [exchange.set.primary.removalName] }
        }
    }

    /// The header fields to send.
    func headers(of description: RequestDescription) -> HeaderBlock {
        guard case .http(_, let conditions) = self, !conditions.isEmpty else { return description.headers }
        // None of them is there: such a request is not the cache's.
        return HeaderBlock(bytes: description.headers.bytes + HeaderBlock(conditions).bytes)
    }
}

/// What is made of the network's answer.
package enum CacheReply: Sendable {
    case deliver(TransferResult, CacheSource, timed: TimedEntry? = nil)
    /// The same without conditions.
    case askAgain
}
