import Errand

/// The innermost interceptor of a client that has no other than its authentication. It counts what the authentication
/// sends in a run, and returns the number as the body of the response.
struct ClientWalkMeter: Interceptor {
    /// What a run has sent so far, and the token of its last send.
    private struct Sent: Sendable {
        var count: Int
        var token: Int?
    }

    let faults: Notes<String>

    func intercept(
        _ request: RequestDescription, in context: InterceptionContext, next: Next
    ) async throws -> Response {
        guard Self.counts(context.command) else { return try await next(request) }
        let former = context.storage[Sent.self]
        let present = Sent(count: (former?.count ?? 0) + 1, token: ClientWalkTokens.token(of: request))
        context.storage[Sent.self] = present
        if let former, former.token == present.token { faults.add("a request was sent again with the same token") }
        let response = try await next(request)
        return response.replacing(body: Array("\(present.count)".utf8))
    }

    /// Whether the authentication alone sends requests of the command again. Interceptors of the command stand inside of
    /// this one, and with a cache a run may have two transfers without a replay. The body of a stream is not replaced.
    static func counts(_ command: any Command) -> Bool {
        guard let ask = command as? ClientWalkAsk else { return false }
        return ask.cache == nil && ask.interceptors.isEmpty && !ask.isStream
    }

    /// How often the run with this response was sent; `nil`: it was not counted.
    static func sends(_ response: Response?) -> Int? {
        response.flatMap { Int(String(decoding: $0.body.bytes, as: UTF8.self)) }
    }
}
