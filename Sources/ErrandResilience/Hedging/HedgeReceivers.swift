/// Receives the events of one attempt of a ``HedgedCall``.
///
/// `@unchecked Sendable`: what this class adds is constant and itself safe to share.
final class HedgeReceiver: TransferReceiver, @unchecked Sendable {
    private let call: HedgedCall
    private let attempt: Int
    private let transport: HedgingTransport

    init(_ call: HedgedCall, attempt: Int, of transport: HedgingTransport) {
        self.call = call
        self.attempt = attempt
        self.transport = transport
        super.init(callbacks: call.receiver.callbacks)
    }

    override func receive(_ event: TransferEvent.Kind) {
        switch event {
        case .ended(let result): transport.attemptEnded(call, attempt, result)
        case .head(let head): transport.headArrived(call, attempt, head)
        case .started, .sent, .progress, .chunk, .uploadCredit, .retrying: transport.pass(event, of: call, attempt)
        }
    }

    override func joined(sentAt time: Int64?) { call.receiver.joined(sentAt: time) }
}

/// Measures a transfer that could be hedged, as long as there are too few samples for a delay.
///
/// `@unchecked Sendable`: what this class adds is constant and itself safe to share.
final class LatencyReceiver: ForwardingReceiver, @unchecked Sendable {
    private let isStreamed: Bool
    private let policy: RetryPolicy
    private let ended: @Sendable (LatencySample) -> Void

    init(
        _ receiver: TransferReceiver, isStreamed: Bool, _ policy: RetryPolicy,
        ended: @escaping @Sendable (LatencySample) -> Void
    ) {
        self.policy = policy
        self.isStreamed = isStreamed
        self.ended = ended
        super.init(to: receiver)
    }

    override func receive(_ event: TransferEvent.Kind) {
        switch event {
        // How long the caller reads a stream says nothing about the server.
        case .head(let head) where isStreamed:
            ended(policy.statusCodes.contains(head.statusCode) ? .failure : .success)
        case .ended(let result) where !isStreamed:
            ended(LatencySample(result, policy.judge(RetryMachine.Ending(result, policy))))
        default: break
        }
        super.receive(event)
    }
}
