/// What one run has to do with one ``ChallengeInterceptor``.
struct ChallengeMemory: Sendable {
    /// What was prepared last.
    var url = ""
    var origin = ""
    /// The sides that have to do with it.
    var keys: [ChallengeSide: AnswerBook.Key] = [:]
    var runs: [ChallengeSide: ChallengeRun] = [:]

    /// By interceptor: a run may pass through several.
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
