import Errand
import HTTPTypes
import Synchronization

/// Holds back the answer of a transfer for a time, and breaks off its body. Therefore the transfer may end later or
/// earlier than the transfer beneath.
///
/// Events come on the receiver's queue, one at a time. Events that were held back are delivered on that queue too.
///
/// `@unchecked Sendable`: what this class adds is constant and itself safe to share, except for what its mutex guards.
final class ChaosReceiver: TransferReceiver, @unchecked Sendable {
    private struct State {
        /// The events that came before the time was over.
        var held: [TransferEvent.Kind] = []
        var isOpen: Bool
        /// Whether the end is being reported or was reported. No other event follows.
        var isOver = false
        /// Whether nobody waits for the answer any more.
        var isCancelled = false
        var head: Response?
        var received = 0
        /// The number of bytes after which a streamed body breaks off.
        var cut = 0
        var timer: Task<Void, Never>?

        /// Whether the transfer beneath has ended, and its end is held back.
        var holdsEnd: Bool {
            if case .ended? = held.last { true } else { false }
        }
    }

    /// The number of bytes within which a streamed body without a length breaks off.
    private static let longestPiece = 4096

    private let state: Mutex<State>
    private let receiver: TransferReceiver
    /// The part of the body that arrives; `nil`: all of it.
    private let share: Double?
    private let cancelBeneath: @Sendable () -> Void
    private let onEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - receiver: Gets the events.
    ///   - share: The part of the body that arrives; `nil`: all of it.
    ///   - latency: The time for which the answer is held back.
    ///   - limit: The first timeout of the request.
    ///   - stopwatch: Measures it.
    ///   - cancelBeneath: Ends the transfer beneath when the rest of it is not wanted.
    ///   - onEnd: Called after the end was delivered.
    init(
        _ receiver: TransferReceiver, truncatedTo share: Double?, after latency: Duration,
        limit: TransferScript.Limit?, by stopwatch: Stopwatch, cancelBeneath: @escaping @Sendable () -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.receiver = receiver
        self.share = share
        self.cancelBeneath = cancelBeneath
        self.onEnd = onEnd
        state = Mutex(State(isOpen: latency <= .zero))
        super.init(callbacks: receiver.callbacks)
        guard latency > .zero else { return }
        let timer = Task { [weak self] in
            if let limit, limit.time < latency {
                try? await stopwatch.sleep(for: limit.time)
                guard let self else { return }
                callbacks.async { self.giveUp(limit.error) }
            } else {
                try? await stopwatch.sleep(for: latency)
                guard let self else { return }
                callbacks.async { self.open() }
            }
        }
        state.withLock { $0.timer = timer }
    }

    deinit {
        state.withLock { $0.timer.take() }?.cancel()
    }

    override func joined(sentAt time: Int64?) { receiver.joined(sentAt: time) }

    /// The transfer was cancelled. If the transfer beneath has already ended, only this method reports the
    /// cancellation. The end of that transfer may also still be on the way to the receiver's queue.
    func cancelled() {
        callbacks.async { [self] in
            let isOurs = state.withLock { state in
                state.isCancelled = true
                guard !state.isOver, state.holdsEnd else { return false }
                state.held = []
                state.isOver = true
                return true
            }
            if isOurs { end(.failure(.cancelled)) }
        }
    }

    override func receive(_ event: TransferEvent.Kind) {
        if case .ended = event, isGivenUp() { return pass(.ended(.failure(.cancelled))) }
        switch event {
        case .uploadCredit, .started, .connected, .sent:
            // Only the response is late, not the sending of the request.
            return pass(event)
        case .ended(.failure(.cancelled)):
            // Nobody waits for the events that were held back.
            state.withLock { $0.held = [] }
            open()
        case .head, .chunk, .progress, .retrying, .resending, .notResent, .decided, .ended: break
        }
        let isHeld = state.withLock { state in
            guard !state.isOpen else { return false }
            state.held.append(event)
            return true
        }
        if !isHeld { pass(event) }
    }

    /// Whether the transfer was cancelled while its end was on the way. Events that were held back are dropped then.
    private func isGivenUp() -> Bool {
        state.withLock { state in
            guard state.isCancelled, !state.isOpen else { return false }
            state.held = []
            state.isOpen = true
            return true
        }
    }

    /// The answer is too late for the request. On the receiver's queue.
    private func giveUp(_ error: ErrandError) {
        guard claimEnd() else { return }
        state.withLock { state in
            state.held = []
            state.isOpen = true
        }
        cancelBeneath()
        end(.failure(error))
    }

    /// On the receiver's queue.
    private func open() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isOpen = true
            return state.held
        }
        for event in held { pass(event) }
    }

    /// Whether the caller must report the end: true for the first caller only.
    private func claimEnd() -> Bool {
        state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
    }

    /// Reports the end, which was claimed.
    private func end(_ result: TransferResult) {
        state.withLock { $0.timer.take() }?.cancel()
        receiver.accept(.ended(result))
        onEnd()
    }

    private func pass(_ event: TransferEvent.Kind) {
        guard !state.withLock({ $0.isOver }) else { return }
        switch event {
        case .ended(let result):
            guard claimEnd() else { return }
            end(share.map { truncated(result, to: $0) } ?? result)
        case .head(let response):
            let length = response.header(.contentLength).flatMap { Int($0) } ?? Self.longestPiece
            state.withLock { state in
                state.head = response
                state.cut = Int(min(Double(length) * (share ?? 1), 1e15))
            }
            receiver.accept(event)
        case .chunk(let response):
            if share == nil { receiver.accept(event) } else { chunk(response) }
        case .uploadCredit, .started, .connected, .sent, .progress, .retrying, .resending, .notResent, .decided:
            receiver.accept(event)
        }
    }

    /// Delivers a piece of a streamed body that will break off.
    private func chunk(_ response: Response) {
        let bytes = response.body.bytes
        let (room, head) = state.withLock { state -> (Int, Response?) in
            let room = max(0, state.cut - state.received)
            state.received += bytes.count
            return (room, state.head)
        }
        guard bytes.count > room else { return receiver.accept(.chunk(response)) }
        guard claimEnd() else { return }
        if room > 0 { receiver.accept(.chunk(Response(statusCode: 0, body: Array(bytes.prefix(room))))) }
        cancelBeneath()
        end(.failure(Self.broken(head)))
    }

    /// The result with a part of its body. A response without a body is not changed.
    private func truncated(_ result: TransferResult, to share: Double) -> TransferResult {
        guard case .response(let response) = result else { return result }
        let (head, received) = state.withLock { ($0.head, $0.received) }
        let whole = response.body.bytes
        guard !whole.isEmpty || received > 0 else { return result }
        let shown = whole.isEmpty ? head ?? response : response
        return .failure(
            Self.broken(
                Response(
                    statusCode: shown.statusCode, head: shown.rawHead,
                    body: Array(whole.prefix(Int(Double(whole.count) * share))), metrics: response.metrics)))
    }

    private static func broken(_ response: Response?) -> ErrandError {
        .partialBody.with(message: "the test has broken the body off", response: response)
    }
}
