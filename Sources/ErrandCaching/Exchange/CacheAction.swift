import HTTPTypes

/// The next step of a transfer after the cache lookup.
enum CacheAction: Sendable {
    /// `revalidation`: the question to send to the server in the background.
    case serve(Response, CacheSource, revalidation: CacheQuestion?)
    case ask(CacheQuestion)
    case fail(CacheMiss)
}

/// The request to the network, and how the cache handles the answer.
enum CacheQuestion: Sendable {
    /// The cache ignores the answer: the request has no policy.
    case none
    /// The cache ignores the answer: the request has a policy but is not cacheable.
    case passed(ResponseCachePlan, CacheStatus.Forward)
    case timed(TimedExchange)
    case http(HTTPExchange, conditions: HTTPFields)

    /// Names by which removals find the answer once it is stored; `nil` if the answer is not stored.
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
        // The description has none of these fields: a request with conditions of its own is not cached.
        return HeaderBlock(bytes: description.headers.bytes + HeaderBlock(conditions).bytes)
    }
}

/// How the answer of the network is handled.
package enum CacheReply: Sendable {
    case deliver(TransferResult, CacheSource, timed: TimedEntry? = nil)
    /// Send the request again without conditions.
    case askAgain
}
