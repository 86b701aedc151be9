/// The state of one ``ChallengeInterceptor`` within one run.
struct ChallengeMemory: Sendable {
    /// The URL that was prepared last.
    var url = ""
    var origin = ""
    /// The sides that see the request.
    var keys: [ChallengeSide: AnswerBook.Key] = [:]
    var runs: [ChallengeSide: ChallengeRun] = [:]

    /// Keyed by interceptor: a run may pass several of them.
    fileprivate struct Table: Sendable {
        var memories: [ObjectIdentifier: ChallengeMemory] = [:]
    }
}

extension InterceptionContext.Storage {
    func challengeMemory(of interceptor: ChallengeInterceptor) -> ChallengeMemory {
        self[ChallengeMemory.Table.self]?.memories[ObjectIdentifier(interceptor)] ?? ChallengeMemory()
    }

    func setChallengeMemory(of interceptor: ChallengeInterceptor, _ memory: ChallengeMemory) {
        var table = self[ChallengeMemory.Table.self] ?? ChallengeMemory.Table()
        table.memories[ObjectIdentifier(interceptor)] = memory
        self[ChallengeMemory.Table.self] = table
    }
}
