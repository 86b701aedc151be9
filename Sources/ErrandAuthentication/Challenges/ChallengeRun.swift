/// What one run has to do with the challenges of one side. Pure: what is to be sent, and what a response means for it.
struct ChallengeRun: Sendable, Equatable {
    enum Sent: Sendable, Equatable {
        /// No credential.
        case nothing
        /// The field that the request had before.
        case own
        /// An answer that was good once; `wins` over the request's own field, where that was refused.
        case kept(AnswerBook.Entry, wins: Bool)
        /// A new answer, of which nobody knows yet whether it is good.
        case answered(ServerCredential)
    }

    /// What to do about a challenge.
    enum Reaction: Equatable {
        /// Send again; ``toSend(own:kept:)`` knows with what.
        case replay
        case ask(attempt: Int)
        /// The response stands.
        case take
    }

    private(set) var sent = Sent.nothing
    /// How often the handler was asked.
    private(set) var asked = 0

    /// The credential to put into the request, `nil` for none. `own`: whether it brings one; `kept`: what the book has.
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

    /// A challenge came. `kept`: what the book has, without what was sent.
    mutating func challenged(kept: AnswerBook.Entry?, limit: Int) -> Reaction {
        switch sent {
        case .nothing, .own, .kept:
            // Another request has been asked meanwhile, and its answer was good.
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

    /// The answer that was sent and not refused, if it is a new one.
    var proven: ServerCredential? {
        guard case .answered(let credential) = sent else { return nil }
        return credential
    }

    /// The one of ``proven`` is in the book now.
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
