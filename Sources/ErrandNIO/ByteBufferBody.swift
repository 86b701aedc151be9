public import Errand
public import NIOCore

/// The body of a streamed response as SwiftNIO's buffers, for a server that passes the body on.
///
/// ```swift
/// let response = try await client.stream(GetFile(path: path))
/// return ServerResponse(status: response.head.status, body: response.body.byteBuffers())
/// ```
///
/// If the command has the option `CommandOptions.byteBuffers`, the bytes arrive in the memory of the buffers. Only two
/// kinds of chunks are then copied: small chunks that were joined, and chunks in more than 4 KiB of memory that fill
/// less than an eighth of it. Without the option each buffer is one copy of the bytes, from the engine's memory into
/// the buffer's: `ByteBuffer` cannot refer to memory that NIO did not allocate.
///
/// Backpressure reaches from the caller of the server to the server upstream: reading a buffer lets the same number of
/// bytes come (256 KiB at most are on the way). If the caller hangs up, its server cancels the task or leaves the loop,
/// and either of these stops the request upstream. Everything else is as with ``/Errand/ResponseBodyStream``: the
/// sequence can be read once.
public struct ByteBufferBody: AsyncSequence, Sendable {
    /// A piece of the body, never empty.
    public typealias Element = ByteBuffer

    private let body: ResponseBodyStream
    private let allocator: ByteBufferAllocator

    init(_ body: ResponseBodyStream, allocator: ByteBufferAllocator) {
        self.body = body
        self.allocator = allocator
    }

    /// Continues to read where the last iterator stopped.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: ResponseBodyStream.AsyncIterator
        let allocator: ByteBufferAllocator

        /// The next piece; `nil` at the end. Throws what the iterator of ``/Errand/ResponseBodyStream`` throws.
        public mutating func next() async throws -> ByteBuffer? {
            guard let piece = try await base.nextPiece() else { return nil }
            if case .chunk(let chunk) = piece, let arrived = chunk.body.arrived { return arrived }
            return piece.withBytes { allocator.buffer(copying: $0) }
        }
    }

    /// Makes an iterator that continues where the last one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: body.makeAsyncIterator(), allocator: allocator)
    }
}

extension ResponseBodyStream {
    /// The same body as SwiftNIO's buffers.
    ///
    /// - Parameter allocator: Makes the buffers into which bytes are copied; optionally a channel's own.
    public func byteBuffers(allocator: ByteBufferAllocator = ByteBufferAllocator()) -> ByteBufferBody {
        ByteBufferBody(self, allocator: allocator)
    }
}

extension ByteBufferAllocator {
    /// One allocation and one memcpy.
    func buffer(copying bytes: UnsafeRawBufferPointer) -> ByteBuffer {
        var buffer = self.buffer(capacity: bytes.count)
        buffer.writeBytes(bytes)
        return buffer
    }
}
