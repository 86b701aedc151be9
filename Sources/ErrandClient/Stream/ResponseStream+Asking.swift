import Synchronization

/// Asks the interceptors about a head.
extension ResponseStream {
    /// Calls the interceptors with the head and the received part of the body. Any thread.
    func ask(_ number: Int, of request: AnyRequest) {
        let former = guarded.withLock { guarded -> HeldResponse.Question? in
            let bytes = guarded.kept.bytes
            return guarded.changeHeld(number) { held in
                guard held.question.isOpen else { return nil }
                let former = held.question
                let (chain, response) = (held.chain, held.head.assembled(held.isSuccess ? [] : bytes))
                held.question = .asked(
                    Task { [self] in
                        let answer: HeldResponse.Answer = await chain.replays(after: .response(response)) {
                            isHeld(number) && !request.core.withLock { $0.machine.isStopped }
                        }
                        answered(number, answer, of: request)
                        return answer
                    })
                return former
            } ?? nil
        }
        former?.cancel()
    }

    /// Whether the answer is still needed.
    private func isHeld(_ number: Int) -> Bool {
        guarded.withLock { $0.changeHeld(number) { _ in true } ?? false }
    }

    /// Handles the answer. Called in the task of the question, before the answer is used elsewhere: a response that is
    /// not replayed is delivered before its end is reported, however soon the end arrived.
    private func answered(_ number: Int, _ answer: HeldResponse.Answer, of request: AnyRequest) {
        perform(
            of: request,
            guarded.withLock { guarded in
                guard guarded.head == number, case .holding(let caller, var held) = guarded.state else { return .none }
                if case .success(false) = answer { return Self.deliver(held.head, to: caller, &guarded) }
                guard !held.isEnded else { return .none }
                held.isCut = true
                guarded.state = .holding(caller, held)
                return .cut
            })
    }

    /// The interceptors to ask at the end of a transfer; `all` are those of the run.
    func interception(_ all: InterceptorChain?) -> InterceptorChain? {
        guarded.withLock { guarded in
            switch guarded.state {
            // The caller has the response: it cannot be changed or requested again any more.
            case .delivered: nil
            case .holding(_, let held): held.remaining
            case .idle, .waiting, .collecting, .over: all
            }
        }
    }
}
