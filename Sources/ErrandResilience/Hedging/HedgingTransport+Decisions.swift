import Synchronization

extension HedgingTransport {
    /// Carries out a decision of the call's machine, and those that follow from it. `isInPlace`: called on the
    /// receiver's queue.
    func carryOut(_ first: HedgeMachine.Action, on call: HedgedCall, isInPlace: Bool) {
        var action = first
        while true {
            switch action {
            case .none:
                return
            case .wait(let until):
                return schedule(call, until)
            case .askBudget:
                action = askBudget(of: call, isInPlace: isInPlace)
            case .send(let attempt):
                return hedge(call, attempt, isInPlace: isInPlace)
            case .deliver(let attempt, let others):
                return deliver(call, attempt, cancelling: others, isInPlace: isInPlace)
            case .cancel(let attempts):
                return cancel(attempts, of: call, isInPlace: isInPlace)
            }
        }
    }

    private func askBudget(of call: HedgedCall, isInPlace: Bool) -> HedgeMachine.Action {
        let isGranted = call.withdraw(now: stopwatch.now())
        if !isGranted {
            parts.hedgeRefused()
            if call.description.reports.contains(.events) {
                call.guarded.withLock { guarded in
                    guard !guarded.isOver else { return }
                    guarded.outbox.append(.decided(.notHedged(reason: HedgeStop.budgetExhausted.rawValue)))
                }
                call.flush(isInPlace: isInPlace)
            }
        }
        let now = stopwatch.now()
        let action = call.guarded.withLock { $0.machine.budgetAnswered(granted: isGranted, now: now) }
        if case .send = action { return action }
        // The call ended, or its deadline passed, while the budgets were asked.
        if isGranted { call.giveBack() }
        return action
    }

    private func hedge(_ call: HedgedCall, _ attempt: Int, isInPlace: Bool) {
        do throws(ErrandError) {
            guard try send(call, attempt) else { return call.giveBack() }
            let isWanted = call.guarded.withLock { guarded in
                guarded.hedges += 1
                guard !guarded.isOver else { return false }
                guarded.outbox.append(.retrying(TransferRetry(attempt: attempt - 1, reason: "hedge", wait: .zero)))
                return true
            }
            if isWanted { call.flush(isInPlace: isInPlace) }
            parts.hedgeSent()
            settle(call)
        } catch {
            call.giveBack()
            refused(call, attempt, error, isInPlace: isInPlace)
        }
    }

    /// A hedge was not sent: the other attempts decide.
    private func refused(_ call: HedgedCall, _ attempt: Int, _ error: ErrandError, isInPlace: Bool) {
        let now = stopwatch.now()
        let action = call.guarded.withLock { guarded in
            guarded.refusals.append(HedgedCall.Answer(head: nil, result: .failure(error)))
            // The call was cancelled while the hedge was being submitted.
            if guarded.isCancelled, guarded.legs.isEmpty {
                guarded.end(HedgedCall.Answer(head: nil, result: .failure(.cancelled)))
            }
            return guarded.machine.attemptFailed(attempt, isFatal: false, pushback: .stop, now: now)
        }
        carryOut(action, on: call, isInPlace: isInPlace)
        finish(call, isInPlace: isInPlace)
    }

    /// The answer of `attempt` is that of the call.
    private func deliver(_ call: HedgedCall, _ named: Int, cancelling others: [Int], isInPlace: Bool) {
        let now = stopwatch.now()
        let decided = call.guarded.withLock { guarded -> Decided in
            let attempt = guarded.standIn(for: named, isStreamed: call.isStreamed)
            var decided = Decided()
            let isAnswered = guarded.isAnswered(attempt, by: call.policy)
            decided.isHedge = attempt > 1 && isAnswered
            if isAnswered { guarded.trail.attemptWon() }
            for other in others {
                guard let leg = guarded.legs[other] else { continue }
                if let start = leg.start { decided.ages.append(now - start) }
                decided.orders.append((other, guarded.cut(other)))
            }
            if let leg = guarded.legs[attempt] {
                // A streamed response whose head has arrived.
                guarded.winner = attempt
                if let head = leg.head { guarded.outbox.append(.head(head)) }
                // The caller has cancelled the call before there was a winner.
                if guarded.isCancelled { decided.stop = (attempt, guarded.stop(attempt)) }
                // Without an id `send` grants the credit, as soon as the id is known.
                if let id = leg.control.id {
                    decided.attempt = id
                    decided.credit = guarded.owed
                    guarded.owed = 0
                }
            } else {
                guarded.end(guarded.answer(of: attempt))
            }
            return decided
        }
        for age in decided.ages { call.tracker.record(.loser, age: age) }
        parts.lost(decided.orders.count)
        if decided.isHedge { parts.hedgeWon() }
        if let id = decided.attempt, decided.credit > 0 { base.grant(id, bytes: decided.credit) }
        call.flush(isInPlace: isInPlace)
        for (other, order) in decided.orders { perform(order, on: call, other) }
        if let (attempt, order) = decided.stop { perform(order, on: call, attempt) }
        finish(call, isInPlace: isInPlace)
    }

    private struct Decided: Sendable {
        var orders: [(Int, TransferControl.Order)] = []
        /// The ages of the attempts that are cancelled.
        var ages: [Duration] = []
        /// The winner, and the order that stops it.
        var stop: (Int, TransferControl.Order)?
        var credit = 0
        var attempt: TransferID?
        var isHedge = false
    }

    private func cancel(_ attempts: [Int], of call: HedgedCall, isInPlace: Bool) {
        let orders = call.guarded.withLock { guarded -> [(Int, TransferControl.Order)] in
            let orders = attempts.map { ($0, guarded.cut($0)) }
            // Otherwise the end of the last attempt is that of the call.
            if guarded.legs.isEmpty { guarded.end(HedgedCall.Answer(head: nil, result: .failure(.cancelled))) }
            return orders
        }
        for (attempt, order) in orders { perform(order, on: call, attempt) }
        finish(call, isInPlace: isInPlace)
    }

    /// Hands out what is in the outbox, and forgets the call after its end.
    func finish(_ call: HedgedCall, isInPlace: Bool) {
        call.flush(isInPlace: isInPlace)
        guard call.guarded.withLock({ $0.isOver }) else { return }
        forget(call)
        settle(call)
    }

    /// Gives back the tokens of hedges that were not sent, once all attempts have ended.
    private func settle(_ call: HedgedCall) {
        let unsent = call.takeUnsentHedges()
        guard unsent > 0 else { return }
        for _ in 0..<unsent { call.giveBack() }
        parts.hedgesUnsent(unsent)
    }

    func perform(_ first: TransferControl.Order, on call: HedgedCall, _ attempt: Int) {
        var order = first
        while order != .none {
            base.perform(order)
            let performed = order
            order = call.guarded.withLock { $0.legs[attempt]?.control.performed(performed) ?? .none }
        }
    }
}
