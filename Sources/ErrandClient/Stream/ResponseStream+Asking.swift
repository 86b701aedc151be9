import Synchronization

/// What interceptors say about a head.
extension ResponseStream {
    /// Has the interceptors look at the head, and at what came of the body. Any thread.
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

    /// Whether the answer still matters.
    private func isHeld(_ number: Int) -> Bool {
        guarded.withLock { $0.changeHeld(number) { _ in true } ?? false }
    }

    /// In the question's own task, before anybody else hears of the answer: a response that is not replayed is delivered
    /// before its end is told, however soon that came.
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

    /// The interceptors that are left to be asked at the end of a transfer, `all` being those of the run.
    func interception(_ all: InterceptorChain?) -> InterceptorChain? {
        guarded.withLock { guarded in
            switch guarded.state {
            // The caller has it: there is nothing left to change or to send again.
            case .delivered: nil
            case .holding(_, let held): held.remaining
            case .idle, .waiting, .collecting, .over: all
            }
        }
    }
}
