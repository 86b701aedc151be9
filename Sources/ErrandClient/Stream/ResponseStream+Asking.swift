import Synchronization

/// Returns a head from the interceptors' `next`, and handles their answer.
extension ResponseStream {
    /// Hands the head and the received part of the body to the interceptors. Any thread.
    func ask(_ number: Int, of request: AnyRequest) {
        let url = request.url
        let former = guarded.withLock { guarded -> HeldResponse.Question? in
            let bytes = guarded.kept.bytes
            return guarded.changeHeld(number) { held in
                guard held.question.isOpen else { return nil }
                let former = held.question
                let (interception, response) = (held.interception, held.give(held.isAskedAtOnce ? [] : bytes))
                held.question = .asked(
                    Task { [self] in
                        answered(number, await interception.order(after: .response(response), at: url), of: request)
                    })
                return former
            } ?? nil
        }
        former?.cancel()
    }

    /// Handles the interceptors' order. Called in the task of the question, before the answer is used elsewhere: a
    /// response that stands is delivered before its end is reported, however soon the end arrived.
    private func answered(_ number: Int, _ order: Interception.Order, of request: AnyRequest) -> HeldResponse.Answer {
        let (answer, next) = guarded.withLock { guarded -> (HeldResponse.Answer, Order) in
            guard guarded.head == number, case .holding(let caller, var held) = guarded.state else {
                // The run has ended.
                return (HeldResponse.Answer(order), .none)
            }
            let answer = held.answered(order)
            if case .stands = answer { return (answer, Self.deliver(held.head, to: caller, &guarded)) }
            let isCut = !held.isEnded
            held.isCut = isCut
            guarded.state = .holding(caller, held)
            return (answer, isCut ? .cut : .none)
        }
        // The rest of the stream does not concern the interceptors.
        if case .stands = answer { request.closeInterception() }
        perform(of: request, next)
        return answer
    }

    /// Hands the result of a transfer to the interceptors, unless they got its head before. Called in a step of the
    /// request.
    func consult(
        _ interception: Interception, about result: TransferResult, at url: String?
    ) async -> HeldResponse.Answer {
        let asked = guarded.withLock { guarded -> Asked in
            switch guarded.state {
            case .holding(let caller, var held):
                if case .asked(let task) = held.question { return .before(task) }
                guard case .response(let response) = result else { return .now(result) }
                let given = held.give(response.body.bytes, by: response)
                guarded.state = .holding(caller, held)
                return .now(.response(given))
            // The end of the transfer overtook the end of the interceptors, which have let the response stand.
            case .delivered:
                return .stands
            case .idle, .waiting, .collecting, .over:
                return .now(result)
            }
        }
        let order: Interception.Order
        switch asked {
        case .before(let task): return await task.value
        case .stands: return .stands
        case .now(let given): order = await interception.order(after: given, at: url)
        }
        return guarded.withLock { guarded in
            guard case .holding(let caller, var held) = guarded.state else { return HeldResponse.Answer(order) }
            let answer = held.answered(order)
            guarded.state = .holding(caller, held)
            return answer
        }
    }

    private enum Asked {
        /// The interceptors got the head before.
        case before(Task<HeldResponse.Answer, Never>)
        /// The interceptors get this.
        case now(TransferResult)
        /// The caller has the response.
        case stands
    }
}
