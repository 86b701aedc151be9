import Synchronization

/// Takes the news of a streamed transfer, and hands the response over as soon as its head decides that it is the one.
final class ResponseStream: Sendable {
    /// What the request is built from.
    let command: any Command
    private let accepts: @Sendable (Response) -> Bool
    private let state = Mutex(State.idle)

    private enum State {
        case idle
        /// The caller waits for a head.
        case waiting(UnsafeContinuation<StreamedResponse, any Error>)
        /// This head is not the one, or perhaps not: a redirect, a status that is not accepted. The body is kept, as
        /// far as an error's body goes, for whoever judges it at its end.
        case collecting(UnsafeContinuation<StreamedResponse, any Error>, Response, [UInt8])
        /// The caller has it.
        case delivered(BodyChannel, Response)
        case over
    }

    /// So much of a body that is not streamed to the caller is kept.
    private static let collected = 1 << 20

    /// `accepts`: whether a response with this head goes to the caller.
    init(_ command: any Command, accepts: @escaping @Sendable (Response) -> Bool) {
        self.command = command
        self.accepts = accepts
    }

    var isDelivered: Bool {
        state.withLock { if case .delivered = $0 { true } else { false } }
    }

    func wait(_ continuation: UnsafeContinuation<StreamedResponse, any Error>) {
        state.withLock { $0 = .waiting(continuation) }
    }

    /// On the callback queue.
    func head(_ head: Response, of request: AnyRequest) {
        // User code, and so before the lock.
        let isAccepted = accepts(head)
        let delivery = state.withLock { state -> (UnsafeContinuation<StreamedResponse, any Error>, BodyChannel)? in
            // `collecting`: the head of the next transfer, after a redirect or a replay.
            let continuation: UnsafeContinuation<StreamedResponse, any Error>
            switch state {
            case .waiting(let waiting), .collecting(let waiting, _, _): continuation = waiting
            case .idle, .delivered, .over: return nil
            }
            guard isAccepted else {
                state = .collecting(continuation, head, [])
                return nil
            }
            let channel = BodyChannel()
            state = .delivered(channel, head)
            return (continuation, channel)
        }
        guard let (continuation, channel) = delivery else { return }
        let body = ResponseBodyStream(source: .init(channel, of: request))
        continuation.resume(returning: StreamedResponse(head: head, body: body))
    }

    /// On the callback queue.
    func chunk(_ chunk: Response, of request: AnyRequest) {
        let channel = state.withLock { state -> BodyChannel? in
            switch state {
            case .delivered(let channel, _):
                return channel
            case .collecting(let continuation, let head, var bytes):
                let room = Self.collected - bytes.count
                chunk.body.withBytes { bytes.append(contentsOf: $0.prefix(room)) }
                state = .collecting(continuation, head, bytes)
                return nil
            case .idle, .waiting, .over:
                return nil
            }
        }
        if let channel {
            channel.push(chunk)
        } else {
            // Nobody will read it, so nobody else would let the rest come.
            request.grant(chunk.body.count)
        }
    }

    /// A transfer ended: its result as those see it who judge whole responses.
    func whole(_ result: TransferResult) -> TransferResult {
        let seen = state.withLock { state -> Response? in
            switch state {
            case .collecting(_, let head, let bytes):
                head.completed(by: result.response, body: bytes)
            case .delivered(_, let head):
                head.completed(by: result.response, body: [])
            case .idle, .waiting, .over:
                nil
            }
        }
        guard let seen else { return result }
        return switch result {
        case .response: .response(seen)
        case .failure(let error): .failure(error.with(response: seen))
        }
    }

    /// The run is over. A success that no head has told of (a transport that buffers) is handed over now.
    func end(_ result: Result<Response, ErrandError>, of request: AnyRequest) {
        let before = state.withLock { state in
            let before = state
            state = .over
            return before
        }
        switch (before, result) {
        case (.idle, _), (.over, _):
            break
        case (.delivered(let channel, _), .success):
            channel.finish(nil)
        case (.delivered(let channel, _), .failure(let error)):
            channel.finish(error)
        case (.waiting(let continuation), .success(let response)),
            (.collecting(let continuation, _, _), .success(let response)):
            let channel = BodyChannel()
            if !response.body.isEmpty { channel.push(response) }
            channel.finish(nil)
            let head = Response(statusCode: response.statusCode, headers: response.headers)
            let body = ResponseBodyStream(source: .init(channel, of: request))
            continuation.resume(returning: StreamedResponse(head: head, body: body))
        case (.waiting(let continuation), .failure(.cancelled)),
            (.collecting(let continuation, _, _), .failure(.cancelled)):
            continuation.resume(throwing: CancellationError())
        case (.waiting(let continuation), .failure(let error)),
            (.collecting(let continuation, _, _), .failure(let error)):
            continuation.resume(throwing: error)
        }
    }
}

extension Response {
    /// A head with what its transfer's end has told.
    fileprivate func completed(by end: Response?, body: [UInt8]) -> Response {
        var metrics = end?.metrics ?? self.metrics
        metrics.remoteAddress = metrics.remoteAddress ?? self.metrics.remoteAddress
        return Response(statusCode: statusCode, headers: headers, body: body, metrics: metrics)
    }
}
