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
        case .started, .connected, .sent, .progress, .chunk, .uploadCredit, .retrying:
            transport.pass(event, of: call, attempt)
        case .resending, .notResent, .decided: transport.pass(event, of: call)
        }
    }

    override func joined(sentAt time: Int64?) { call.receiver.joined(sentAt: time) }

    /// Whether this is the first attempt of the call.
    var isFirst: Bool { attempt == 1 }

    /// The attempt leaves the client, after its waits for the limits. Any thread.
    func attemptSent(at time: Duration) {
        transport.attemptSent(call, attempt, at: time)
    }
}

/// Measures a transfer that could be hedged and is not: there are too few samples for a delay, or hedges are only counted.
///
/// `@unchecked Sendable`: what this class adds is constant and itself safe to share.
final class LatencyReceiver: ForwardingReceiver, @unchecked Sendable {
    private let isStreamed: Bool
    private let policy: RetryPolicy
    private let trail: AttemptTrail
    private let tracker: HedgeTracker
    private let stopwatch: Stopwatch

    init(
        _ receiver: TransferReceiver, of description: RequestDescription, _ policy: RetryPolicy,
        _ trail: AttemptTrail, _ tracker: HedgeTracker, _ stopwatch: Stopwatch
    ) {
        self.policy = policy
        self.trail = trail
        self.tracker = tracker
        self.stopwatch = stopwatch
        isStreamed = description.delivery == .streamed
        super.init(to: receiver)
    }

    /// The last attempt has ended.
    private func ended(_ sample: LatencySample) {
        guard let start = trail.lastSent else { return }
        tracker.record(sample, age: stopwatch.now() - start)
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
