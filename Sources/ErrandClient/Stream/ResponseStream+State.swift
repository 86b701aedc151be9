extension ResponseStream {
    enum State {
        case idle
        /// The caller waits for a head.
        case waiting(Caller)
        /// This head is not the one, or perhaps not. The body is kept, as far as an error's body goes.
        case collecting(Caller, Collected)
        /// This head is the one unless an interceptor has the request sent again. What comes is kept, and no credit is
        /// given back for it.
        case holding(Caller, HeldResponse)
        /// The caller has it.
        case delivered(BodyChannel, Response)
        case over

        /// Who waits for a head: of the first transfer, or of the next one after a redirect or a replay.
        var caller: Caller? {
            switch self {
            case .waiting(let caller), .collecting(let caller, _), .holding(let caller, _): caller
            case .idle, .delivered, .over: nil
            }
        }
    }

    struct Collected {
        let head: Response
        /// What the head has decided where it redirects.
        let redirect: RedirectRules.Decision
        /// There was more than is kept, and the transfer was ended for it.
        var isCut = false
    }

    struct Guarded: ~Copyable {
        var state = State.idle
        /// What came of a body that the caller does not have (yet). Not in `state`, from where each change would copy it.
        var kept = ChunkQueue()
        /// Number of the present head.
        var head = 0
        /// How many bytes the present head says its body has.
        var length: Int64?
        /// So many came.
        var received: Int64 = 0

        /// What `change` answers; `nil` where that response is not held (any more).
        mutating func changeHeld<Value>(_ number: Int, _ change: (inout HeldResponse) -> Value) -> Value? {
            guard head == number, case .holding(let caller, var held) = state else { return nil }
            defer { state = .holding(caller, held) }
            return change(&held)
        }
    }

    /// What is to be done when the lock is dropped.
    enum Order {
        case none
        case deliver(Caller, BodyChannel, Response, isWhole: Bool)
        /// `isLast`: by the head's word, this is all of the body.
        case push(BodyChannel, isLast: Bool)
        /// Nobody will read it, so nobody else would let the rest come.
        case grant
        case cut
        case ask(head: Int)
        case askLater(head: Int)
    }
}
