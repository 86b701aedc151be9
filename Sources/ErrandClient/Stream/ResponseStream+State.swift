extension ResponseStream {
    enum State {
        case idle
        /// The caller waits for a head.
        case waiting(Caller)
        /// This head is not delivered, at least not yet. The beginning of the body is kept, as for an error.
        case collecting(Caller, Collected)
        /// This head is delivered unless an interceptor has the request sent again. The body is kept, and no credit is
        /// given back for it.
        case holding(Caller, HeldResponse)
        /// The caller has the response.
        case delivered(BodyChannel, Response)
        case over

        /// The caller that waits for a head: of the first transfer, or of the next one after a redirect or a replay.
        var caller: Caller? {
            switch self {
            case .waiting(let caller), .collecting(let caller, _), .holding(let caller, _): caller
            case .idle, .delivered, .over: nil
            }
        }
    }

    struct Collected {
        let head: Response
        /// What was decided at the head of a redirect.
        let redirect: RedirectRules.Decision
        /// Whether the body was longer than the kept part, and the transfer was ended for that reason.
        var isCut = false
    }

    struct Guarded: ~Copyable {
        var state = State.idle
        /// The received part of a body that the caller does not have (yet). Not in `state`, because each change of
        /// `state` would copy it.
        var kept = ChunkQueue()
        /// The number of the present head.
        var head = 0
        /// The length of the body in bytes by the present head.
        var length: Int64?
        /// The number of body bytes received.
        var received: Int64 = 0

        /// Changes the held response and returns the result of `change`; `nil` if that response is not held (any more).
        mutating func changeHeld<Value>(_ number: Int, _ change: (inout HeldResponse) -> Value) -> Value? {
            guard head == number, case .holding(let caller, var held) = state else { return nil }
            defer { state = .holding(caller, held) }
            return change(&held)
        }
    }

    /// What to do after the lock is released.
    enum Order {
        case none
        case deliver(Caller, BodyChannel, Response, isWhole: Bool)
        /// `isLast`: this chunk completes the body, by the length in the head.
        case push(BodyChannel, isLast: Bool)
        /// The chunk is not delivered to a reader, so its credit has to be given back here.
        case grant
        case cut
        case ask(head: Int)
        case askLater(head: Int)
    }
}
