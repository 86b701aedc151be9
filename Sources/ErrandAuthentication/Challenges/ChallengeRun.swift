/// The challenges of one side within one run: decides which credential to send and how to react to a challenge. Pure.
struct ChallengeRun: Sendable, Equatable {
    enum Sent: Sendable, Equatable {
        /// No credential.
        case nothing
        /// The field that the request had already.
        case own
        /// An answer that was accepted earlier. `wins`: it replaces the request's own field, because that field was
        /// refused.
        case kept(AnswerBook.Entry, wins: Bool)
        /// A new answer; it is not known yet whether it is accepted.
        case answered(ServerCredential)
    }

    /// The reaction to a challenge.
    enum Reaction: Equatable {
        /// Resend the request; ``toSend(own:kept:)`` returns the credential.
        case replay
        case ask(attempt: Int)
        /// The challenge is the response.
        case take
    }

    private(set) var sent = Sent.nothing
    /// How often the handler was called.
    private(set) var asked = 0

    /// The credential to add to the request, `nil` for none. `own`: whether the request has a credential of its own;
    /// `kept`: the answer in the book.
    mutating func toSend(own: Bool, kept: AnswerBook.Entry?) -> ServerCredential? {
        switch sent {
        case .answered(let credential):
            return credential
        case .kept(let entry, wins: true):
            return entry.credential
        case .nothing, .own, .kept(_, wins: false):
            if own {
                sent = .own
                return nil
            }
            sent = kept.map { .kept($0, wins: false) } ?? .nothing
            return kept?.credential
        }
    }

    /// Reacts to a challenge. `kept`: the answer in the book, other than the one that was sent.
    mutating func challenged(kept: AnswerBook.Entry?, limit: Int) -> Reaction {
        switch sent {
        case .nothing, .own, .kept:
            // Another request's answer was accepted meanwhile.
            if let kept {
                sent = .kept(kept, wins: sent.replacesOwn)
                return .replay
            }
        case .answered:
            break
        }
        guard asked < limit else { return .take }
        asked += 1
        return .ask(attempt: asked)
    }

    mutating func answered(_ credential: ServerCredential) {
        sent = .answered(credential)
    }

    /// The new answer that was sent and not refused, if there is one.
    var proven: ServerCredential? {
        guard case .answered(let credential) = sent else { return nil }
        return credential
    }

    /// The answer in ``proven`` was added to the book.
    mutating func kept(_ entry: AnswerBook.Entry) {
        sent = .kept(entry, wins: true)
    }
}

extension ChallengeRun.Sent {
    fileprivate var replacesOwn: Bool {
        switch self {
        case .nothing, .answered: false
        case .own: true
        case .kept(_, let wins): wins
        }
    }
}

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
