import Synchronization

/// The body of a streamed response, as it comes. Reading it is what lets more come: a reader that stops reading stops the
/// server, by the credit of the engine (256 KiB ahead) and TCP behind it.
///
/// A sequence to be read once: iterators share the position. Leaving its loop before its end stops the request, as
/// everywhere, and so does dropping it unread; ``resumable`` may be left and read on. Cancelling the reading task throws `CancellationError` and stops the request as well. A body that breaks off throws the
/// request's ``ErrandError`` after the bytes that came.
///
/// Where the request's body comes from a source and is still being sent, the end is told as soon as `Content-Length` bytes
/// came, and the request goes on until the upload has ended as well. A body without a `Content-Length`, or one that is
/// decoded, ends when both are over: only libcurl knows of its end, and says it then. An upload that waits for such an end
/// ends with ``ErrandError/timeoutIdle``.
public struct ResponseBodyStream: AsyncSequence, Sendable {
    /// A piece of the body, never empty.
    public typealias Element = [UInt8]

    let source: Source
    private var isResumable = false

    init(source: Source) {
        self.source = source
    }

    /// The same body, whose loop may be left: the request waits, held back by backpressure, and the next loop reads on. The
    /// request is stopped when the body and all its readers are gone.
    public var resumable: ResponseBodyStream {
        var body = self
        body.isResumable = true
        return body
    }

    /// Stops the request when the body and the last reader go.
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
            // Of a body that came as a whole nothing is to be stopped; an upload that is still open goes on. Of one that
            // failed a stop would silence the delegate, which is told on the callback queue later.
            if !channel.hasEnded { request.stop() }
        }

        /// What the iterators of this moment share.
        func entered() -> Loop {
            loop.withLock { weak in
                if let loop = weak.loop { return loop }
                let loop = Loop(self)
                weak.loop = loop
                return loop
            }
        }
    }

    /// Stops the request when the last of the iterators goes that share it.
    final class Loop: Sendable {
        private let source: Source

        init(_ source: Source) {
            self.source = source
        }

        deinit {
            source.stopUnlessEnded()
        }
    }

    /// Reads on where the last iterator stopped.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: Source
        /// Only to be let go; `nil`: leaving the loop is of no effect.
        let loop: Loop?

        /// The next piece; `nil` at the end.
        public mutating func next() async throws -> [UInt8]? {
            switch await source.channel.next() {
            case .chunk(let bytes):
                source.request.grant(bytes.count)
                return bytes
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

    /// Reads on where the last iterator stopped.
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
