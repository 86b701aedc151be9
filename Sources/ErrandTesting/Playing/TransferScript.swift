import Errand
import HTTPTypes

/// The reports of a transfer that a test transport answers by itself, and their times.
struct TransferScript: Sendable {
    /// One report, `time` after the script began.
    struct Step: Sendable {
        var time: Duration
        var content: Content
    }

    enum Content: Sendable {
        case event(TransferEvent.Kind)
        /// Bytes of a streamed body, which need credit.
        case bytes(ArraySlice<UInt8>)
        case end(TransferResult)
    }

    /// A piece of a body.
    struct Piece: Sendable {
        var time: Duration
        var bytes: ArraySlice<UInt8>
    }

    /// The steps in the order of their times. Without an end the transfer waits until it is cancelled.
    var steps: [Step] = []
    /// The times at which bytes arrive, as far as they were given.
    private var arrivals: [Duration] = []

    /// The size of the pieces of a body for which no pieces were given.
    private static let pieceSize = 16 << 10

    private init(steps: [Step]) {
        self.steps = steps
    }

    /// A failure without a response.
    init(_ error: ErrandError, after wait: Duration = .zero) {
        let wait = max(.zero, wait)
        steps = [Step(time: wait, content: .end(.failure(error)))]
        arrivals = [wait]
    }

    /// A response, as the description asks for it: whole, or in pieces.
    ///
    /// - Parameters:
    ///   - response: The response. After a failure, the part that arrived.
    ///   - failure: Why the response is incomplete; `nil`: it is complete.
    ///   - pieces: The body's pieces with their times; empty: all of it arrives with the head.
    ///   - wait: When the head arrives.
    ///   - end: When the transfer ends.
    init(
        _ response: Response, failure: ErrandError? = nil, pieces: [Piece] = [], after wait: Duration = .zero,
        until end: Duration = .zero, for description: RequestDescription
    ) {
        let wait = max(.zero, wait)
        var last = max(wait, end)
        arrivals = [wait] + pieces.map { max(wait, $0.time) }
        let head = Response(
            statusCode: response.statusCode, head: response.rawHead, body: [UInt8](), metrics: response.metrics)
        if description.reports.contains(.events) {
            steps += [TransferEvent.Kind.started, .sent].map { Step(time: .zero, content: .event($0)) }
        }
        let isStreamed = description.delivery == .streamed
        if isStreamed || description.reports.contains(.events) {
            steps.append(Step(time: wait, content: .event(.head(head))))
        }
        if isStreamed {
            for piece in pieces.isEmpty ? Self.pieces(of: response.body.bytes, at: wait) : pieces {
                let time = max(wait, piece.time)
                steps.append(Step(time: time, content: .bytes(piece.bytes)))
                last = max(last, time)
            }
        }
        if description.reports.contains(.progress) {
            let count = UInt64(response.body.count)
            steps.append(
                Step(
                    time: last,
                    content: .event(.progress(TransferProgress(bytesReceived: count, bytesToReceive: count)))))
        }
        let whole =
            isStreamed
            ? Response(
                statusCode: response.statusCode, head: [UInt8](), body: [UInt8](), metrics: response.metrics,
                trailers: response.rawTrailers) : response
        let result: TransferResult =
            failure.map { TransferResult.failure($0.with(response: isStreamed ? head : response)) } ?? .response(whole)
        steps.append(Step(time: last, content: .end(result)))
        if !pieces.isEmpty { arrivals.append(last) }
    }

    private static func pieces(of bytes: [UInt8], at time: Duration) -> [Piece] {
        stride(from: 0, to: bytes.count, by: pieceSize).map { start in
            Piece(time: time, bytes: bytes[start..<min(start + pieceSize, bytes.count)])
        }
    }

    /// A server that accepts the request and never answers: the first of the request's own timeouts ends the transfer. A
    /// request without timeouts waits until it is cancelled.
    static func silence(for description: RequestDescription) -> TransferScript {
        guard let limit = Limit.first(of: description.settings.timeouts) else { return TransferScript(steps: []) }
        return TransferScript(limit.error, after: limit.time)
    }

    /// A timeout of a request that is waiting.
    struct Limit: Sendable {
        let time: Duration
        let error: ErrandError

        /// The timeout that ends a request without an answer; `nil`: the request waits forever.
        static func first(of timeouts: Timeouts) -> Limit? {
            let limits = [
                Limit(timeouts.firstByte, .timeoutFirstByte), Limit(timeouts.idle, .timeoutIdle),
                Limit(timeouts.total, .timeoutTotal),
            ]
            return limits.compactMap(\.self).min { $0.time < $1.time }
        }

        /// `nil`: there is no such timeout.
        init?(_ timeout: Timeout?, _ error: ErrandError, from start: Duration = .zero) {
            guard let duration = timeout?.duration else { return nil }
            time = max(.zero, start + duration)
            self.error = error
        }
    }

    /// The same script, ended by the first of the request's timeouts that is shorter than a wait of the script.
    /// `elapsed`: the time since the request was submitted.
    func limited(by timeouts: Timeouts, elapsed: Duration) -> TransferScript {
        // A recorded timeout keeps its own message.
        guard let end = steps.last?.time, !arrivals.isEmpty, !endsByTimeout else { return self }
        var limits: [Limit] = []
        if let first = arrivals.first, let limit = Limit(timeouts.firstByte, .timeoutFirstByte), limit.time < first {
            limits.append(limit)
        }
        for (before, after) in zip([Duration.zero] + arrivals, arrivals) {
            guard let limit = Limit(timeouts.idle, .timeoutIdle, from: before), limit.time < after else { continue }
            limits.append(limit)
            break
        }
        if let limit = Limit(timeouts.total, .timeoutTotal, from: Duration.zero - elapsed), limit.time < end {
            limits.append(limit)
        }
        guard let limit = limits.min(by: { $0.time < $1.time }) else { return self }
        var kept = steps.filter { $0.time <= limit.time }
        kept.append(Step(time: limit.time, content: .end(.failure(limit.error))))
        return TransferScript(steps: kept)
    }

    /// The same script without its end: after the last byte the server is silent.
    func unfinished(for description: RequestDescription) -> TransferScript {
        var script = TransferScript(
            steps: steps.filter { step in
                if case .end = step.content { false } else { true }
            })
        let timeouts = description.settings.timeouts
        if let limit = Limit.first(of: Timeouts(idle: timeouts.idle, total: timeouts.total)) {
            let last = script.steps.last?.time ?? .zero
            script.steps.append(Step(time: last + limit.time, content: .end(.failure(limit.error))))
        }
        return script
    }

    private var endsByTimeout: Bool {
        guard case .end(.failure(let error))? = steps.last?.content else { return false }
        return error.isTimeout
    }
}
