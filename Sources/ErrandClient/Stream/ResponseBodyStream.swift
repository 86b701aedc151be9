import Synchronization

/// The body of a streamed response, as it arrives. Reading the body lets the server send more. If the reader stops,
/// backpressure stops the server too: first the engine's credit (256 KiB ahead), then TCP.
///
/// The sequence can be read once: all iterators share one position. Leaving the loop before the end stops the request,
/// as everywhere, and so does releasing the body unread. A loop over ``resumable`` may be left and continued.
/// Cancelling the reading task throws `CancellationError` and stops the request as well. A body that breaks off throws
/// the request's ``ErrandError`` after the received bytes.
///
/// If the request's body comes from a source and is still being sent, the response body ends as soon as
/// `Content-Length` bytes have arrived, and the request runs until the upload has ended as well. A response body without
/// a `Content-Length`, or one that is decoded, ends only when the upload has ended too: only libcurl knows the end of such
/// a body, and reports it then. An upload that waits for such an end ends with ``ErrandError/timeoutIdle``.
public struct ResponseBodyStream: AsyncSequence, Sendable {
    /// A piece of the body, never empty.
    public typealias Element = [UInt8]

    let source: Source
    private var isResumable = false

    init(source: Source) {
        self.source = source
    }

    /// The same body, with a loop that may be left. The request then waits, held back by backpressure, and the next
    /// loop continues to read. The request is stopped when the body and all its readers are released.
    public var resumable: ResponseBodyStream {
        var body = self
        body.isResumable = true
        return body
    }

    /// Stops the request when the body and the last reader are released.
    final class Source: Sendable {
        let channel: BodyChannel
        let request: AnyRequest
        private let loop = Mutex(Weak())

        private struct Weak {
            weak var loop: Loop?
        }

        init(_ channel: BodyChannel, of request: AnyRequest) {
            self.channel = channel
            self.request = request
        }

        deinit {
            stopUnlessEnded()
        }

        func stopUnlessEnded() {
            // If the body has arrived completely, there is nothing to stop, and an open upload continues. If it has
            // failed, a stop would silence the delegate, which is called on the callback queue later.
            if !channel.hasEnded { request.stop() }
        }

        /// The loop that the present iterators share.
        func entered() -> Loop {
            loop.withLock { weak in
                if let loop = weak.loop { return loop }
                let loop = Loop(self)
                weak.loop = loop
                return loop
            }
        }
    }

    /// Stops the request when the last iterator that shares the loop is released.
    final class Loop: Sendable {
        private let source: Source

        init(_ source: Source) {
            self.source = source
        }

        deinit {
            source.stopUnlessEnded()
        }
    }

    /// Continues to read where the last iterator stopped.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: Source
        /// Kept only for its release; `nil`: leaving the loop has no effect.
        let loop: Loop?

        /// The next piece; `nil` at the end.
        public mutating func next() async throws -> [UInt8]? {
            try piece(await source.channel.next())?.bytes
        }

        /// The next piece in the memory in which it has arrived; `nil` at the end.
        package mutating func nextPiece() async throws -> BodyPiece? {
            try piece(await source.channel.next())
        }

        private func piece(_ taken: BodyChannel.Taken) throws -> BodyPiece? {
            switch taken {
            case .piece(let piece):
                if source.channel.needsCredit(for: piece.count) { source.request.grant(piece.count) }
                return piece
            case .end:
                return nil
            case .failure(let error):
                throw error.thrown
            case .cancelled:
                source.request.stop()
                throw CancellationError()
            }
        }
    }

    /// Makes an iterator that continues where the last one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(source: source, loop: isResumable ? nil : source.entered())
    }

    /// The rest of the body in one piece. Throws ``ErrandError/limitBodyBytes`` for more than `limit` bytes.
    public func collect(upTo limit: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in self {
            guard bytes.count + chunk.count <= limit else {
                source.request.stop()
                throw ErrandError.limitBodyBytes.with(message: "the body has more than \(limit) bytes")
            }
            bytes += chunk
        }
        return bytes
    }
}
