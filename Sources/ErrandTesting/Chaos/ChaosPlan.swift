public import Errand

/// The faults that a ``ChaosTransport`` causes, and in how many requests. Shares are parts of all requests, 0...1. If
/// their sum exceeds 1, the excess has no effect. A pure value.
public struct ChaosPlan: Sendable, Hashable {
    /// How long answers are held back, including the failures and statuses of this plan. Default: not at all.
    public var latency: LatencyDistribution
    /// The share of requests that fail with one of ``errors``, all equally likely. They are not passed on. Default: none.
    public var errorShare: Double
    /// Default: ``/Errand/ErrandError/connectFailed``, ``/Errand/ErrandError/connectionLost`` and
    /// ``/Errand/ErrandError/receiveFailed``.
    public var errors: [ErrandError]
    /// The share of requests that are answered with one of ``statuses``, all equally likely. They are not passed on.
    /// Default: none.
    public var statusShare: Double
    /// Default: 500, 502 and 503.
    public var statuses: [Int]
    /// The share of requests that get no answer. They end when the first of their own timeouts expires, on the
    /// transport's clock, or when they are stopped. Default: none.
    public var stallShare: Double
    /// The share of requests whose response breaks off within its body, with ``/Errand/ErrandError/partialBody``. A
    /// response without a body is not changed. Default: none.
    public var truncationShare: Double

    /// Makes a plan; arguments that are left out have the defaults above.
    public init(
        latency: LatencyDistribution = .none, errorShare: Double = 0,
        errors: [ErrandError] = [.connectFailed, .connectionLost, .receiveFailed], statusShare: Double = 0,
        statuses: [Int] = [500, 502, 503], stallShare: Double = 0, truncationShare: Double = 0
    ) {
        self.latency = latency
        self.errorShare = errorShare
        self.errors = errors
        self.statusShare = statusShare
        self.statuses = statuses
        self.stallShare = stallShare
        self.truncationShare = truncationShare
    }
}

/// The decision of a ``ChaosTransport`` about a request.
public enum ChaosFate: Sendable, Hashable {
    /// It is passed on.
    case passed
    /// It fails with this error.
    case failed(ErrandError)
    /// It is answered with this status.
    case answered(Int)
    /// It gets no answer.
    case stalled
    /// Its response breaks off after this share of its body.
    case truncated(Double)
}

extension ChaosPlan {
    /// Draws the fate of a request and the time for which its answer is held back. Both depend only on the dice.
    func draw(_ dice: inout SeededGenerator) -> (fate: ChaosFate, latency: Duration) {
        func number() -> Double { Double(dice.next() >> 11) * 0x1p-53 }
        let latency = latency.time(number(), number())
        // Each draw takes the same numbers from the dice, so that a change of one share leaves the others as they are.
        let (lot, pick) = (number(), number())
        var end = 0.0
        func falls(in share: Double) -> Bool {
            let begin = end
            end += max(0, share)
            return begin <= lot && lot < end
        }
        func picked<Element>(_ elements: [Element]) -> Element? {
            elements.isEmpty ? nil : elements[min(Int(pick * Double(elements.count)), elements.count - 1)]
        }
        if falls(in: errorShare), let error = picked(errors) { return (.failed(error), latency) }
        if falls(in: statusShare), let status = picked(statuses) { return (.answered(status), latency) }
        if falls(in: stallShare) { return (.stalled, latency) }
        if falls(in: truncationShare) { return (.truncated(pick), latency) }
        return (.passed, latency)
    }
}
