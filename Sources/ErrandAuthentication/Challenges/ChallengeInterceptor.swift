import Synchronization

/// Passes the challenges of servers and proxies (401, 407) to a handler, and resends the request with the handler's
/// answer.
///
/// ```swift
/// let challenges = ChallengeInterceptor { challenge in
///     challenge.realm == "archive" ? .basic(username: "ada", password: secret) : .take
/// }
/// ```
///
/// An accepted answer is kept and sent with later requests to the same origin (scheme, host, port) through the same
/// proxy, never to another. A refused answer is dropped. If a request has the header field already, that field is sent
/// first. A challenge from another origin, reached by a redirect, is not answered, because the answer would go to the
/// first origin. If several requests are challenged at the same time, the handler is called for each of them. Requests
/// that were challenged before another request's answer was accepted are resent with that answer.
///
/// Any thread. (AFNetworking's `taskDidReceiveAuthenticationChallenge`.)
public final class ChallengeInterceptor: StepwiseInterceptor, AuthenticatingInterceptor {
    private let limit: Int
    private let handler: @Sendable (AuthenticationChallenge) async throws -> Answer
    private let book = Mutex(AnswerBook())

    /// `limit`: how often the handler is called in one run, counted separately for the server and for the proxy. After
    /// that, the challenge is the response. Default: once, since most answers fail again. 0: never.
    ///
    /// `handler` is called in a task of the request; it may suspend. Throwing an error is the same as ``Answer/fail``,
    /// with a reason.
    public init(limit: Int = 1, handler: @escaping @Sendable (AuthenticationChallenge) async throws -> Answer) {
        self.limit = limit
        self.handler = handler
    }

    /// Drops all answers. Running requests keep the answers that they have.
    public func forgetAnswers() {
        book.withLock { $0.forgetAll() }
    }

    /// Adds the kept answers for the request's origin and proxy.
    public func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription {
        var request = request
        var memory = context.storage.challengeMemory(of: self)
        memory.origin = URLReference(request.url).origin
        memory.keys = [:]
        let original = request
        for side in ChallengeSide.allCases {
            guard let key = AnswerBook.Key(side, original, context.connection, .present) else { continue }
            memory.keys[side] = key
            let kept = book.withLock { $0[key] }
            let own = original.hasCredential(for: side)
            let credential = memory.runs[side, default: ChallengeRun()].toSend(own: own, kept: kept)
            try credential?.apply(to: &request, by: side)
        }
        memory.url = request.url
        context.storage.setChallengeMemory(of: self, memory)
        return request
    }

    /// Returns true if a challenge was answered.
    public func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
        var memory = context.storage.challengeMemory(of: self)
        guard case .response(let response) = result, context.isResult(from: memory.origin) else { return false }
        let challenger = ChallengeSide(statusCode: response.statusCode)
        keepProven(&memory, challenger)
        defer { context.storage.setChallengeMemory(of: self, memory) }
        guard let challenger, let key = memory.keys[challenger] else { return false }
        var run = memory.runs[challenger, default: ChallengeRun()]
        defer { memory.runs[challenger] = run }

        let refused: AnswerBook.Entry? = if case .kept(let entry, _) = run.sent { entry } else { nil }
        let kept = book.withLock { book in
            if let refused { book.forget(refused, for: key) }
            return book[key]
        }
        switch run.challenged(kept: kept, limit: limit) {
        case .replay: return true
        case .take: return false
        case .ask(let attempt):
            let challenge = AuthenticationChallenge(response, url: context.lastURL ?? memory.url, attempt: attempt)
            guard let credential = try await credential(for: challenge) else { return false }
            run.answered(credential)
            return true
        }
    }

    /// Keeps the new answers that were accepted. A challenge of the proxy does not show whether the server accepted its
    /// answer.
    private func keepProven(_ memory: inout ChallengeMemory, _ challenger: ChallengeSide?) {
        guard challenger != .proxy else { return }
        for (side, key) in memory.keys where side != challenger {
            guard let credential = memory.runs[side]?.proven else { continue }
            memory.runs[side]?.kept(book.withLock { $0.keep(credential, for: key) })
        }
    }

    private func credential(for challenge: AuthenticationChallenge) async throws -> ServerCredential? {
        let answer: Answer
        do {
            answer = try await handler(challenge)
        } catch {
            throw ErrandError.noCredential(error)
        }
        return try answer.credential()
    }

    /// No change.
    public func transform(_ response: Response, in context: InterceptionContext) -> Response { response }
}
