/// Watches first attempts to one origin, for requests that need no call: see `ResilientTransport+Watching.swift`.
///
/// `@unchecked Sendable`: all members are constant. The transport outlives the watched transfers: their receivers are
/// requests, which keep their client.
final class FirstAttempts: TransferWatcher, @unchecked Sendable {
    let parts: KeyedParts
    // Copied from `parts`, so that an attempt does not count a reference to `parts`.
    let budget: RetryBudget?
    let breaker: CircuitBreaker?
    /// The scheme and the authority of the origin's URLs.
    let prefix: ContiguousArray<UInt8>
    /// Until this time the entry of ``KeyedPartsCache`` is used.
    let isValidUntil: Duration
    // Not strong: the transport holds these objects in its cache.
    private unowned let transport: ResilientTransport
    /// The transport's, for requests without rules of their own.
    private let rules: CallRules

    init(
        _ parts: KeyedParts, of transport: ResilientTransport, prefix: ContiguousArray<UInt8>, isValidUntil: Duration
    ) {
        self.parts = parts
        budget = parts.budget
        breaker = parts.breaker
        self.transport = transport
        rules = transport.rules
        self.prefix = prefix
        self.isValidUntil = isValidUntil
    }

    func transferReported(_ event: TransferEvent.Kind, to receiver: TransferReceiver) {
        // Most attempts end this way. The code below binds the result, which copies it twice and counts four
        // references.
        if let status = event.finalStatus, !rules.retries(status) {
            let ticket = receiver.watchEnds()
            vote(BreakerOutcome(status: status), ticket)
            return receiver.receive(event)
        }
        guard case .ended(let result) = event else {
            budget?.pay(forNewsFromBeneath: event)
            return receiver.receive(event)
        }
        let ticket = receiver.watchEnds()
        // The transport beneath has accepted the attempt, but nothing of it was sent.
        if case .failure(let error) = result, error.isRefusal,
            let description = (receiver as? any WatchableReceiver)?.submittedDescription
        {
            budget?.takeBack(description.payment, paid: ticket.start)
        }
        if result.mayBeRetried(rules), transport.takesOver(receiver, ticket, parts, result) { return }
        vote(BreakerOutcome(result), ticket)
        receiver.receive(event)
    }

    /// Tells the breaker how the attempt has ended, if the attempt has a permit.
    private func vote(_ outcome: BreakerOutcome, _ ticket: WatchTicket) {
        if ticket.number != 0, let breaker { breaker.released(ticket.permit, outcome, now: nil) }
    }
}

extension TransferEvent.Kind {
    /// The status of a whole response that ends a transfer; `nil` for other events.
    fileprivate var finalStatus: Int? {
        if case .ended(.response(let response)) = self { response.statusCode } else { nil }
    }
}

extension WatchTicket {
    /// The permit of the first attempt, where ``number`` is not 0.
    var permit: BreakerMachine.Permit {
        BreakerMachine.Permit(number: number, epoch: epoch, issued: start, isCounted: flag)
    }
}

extension BreakerOutcome {
    /// The vote of an attempt that ended with this result.
    init(_ result: TransferResult) {
        switch result {
        case .response(let response): self.init(status: response.statusCode)
        case .failure(let error): self.init(error: error)
        }
    }
}

extension RetryBudget {
    /// Pays for requests that a transport beneath has resent by itself.
    func pay(forNewsFromBeneath event: TransferEvent.Kind) {
        switch event {
        case .resending(.authentication): count()
        case .resending: charge()
        case .notResent: returnCharge()
        default: break
        }
    }
}
