public import Errand
public import NIOCore

extension RequestBody {
    /// The readable bytes of a buffer, as they are now, without a copy: libcurl reads them from the buffer's memory. A
    /// later change of the buffer, or of a copy of it, does not reach the request, because NIO copies the memory that
    /// others use before it changes it. The memory is kept until the last transfer has ended and nothing holds the body
    /// any more: neither this value, nor the command, nor the request's description. A slice keeps all of the memory
    /// that it is a part of.
    ///
    /// Compression, ``/Errand/CommandOptions/coalesced``, a cache that uses the body as a key, and HAR files copy what they
    /// need. In ``/Errand/RequestDescription/body`` the body is `.shared`. An interceptor that changes the body
    /// replaces it with other bytes. `.bytes` and `.data` bodies are copied when they are submitted.
    ///
    /// The memory may be released on a loop of the engine: the `deallocate` of your own allocator (NIO's SPI
    /// `CustomByteBufferAllocator`) must not block, and must not wait for a request.
    ///
    /// - Parameters:
    ///   - buffer: the bytes.
    ///   - contentType: `nil`: no `Content-Type` is sent.
    public static func byteBuffer(
        _ buffer: ByteBuffer, contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        .shared(SharedBytes(buffer), contentType: contentType)
    }

    /// The buffers of a sequence that can be read once, such as the body of a request that a server has received.
    ///
    /// Backpressure reaches from the server upstream to the sender: the next buffer is asked for when the engine has
    /// room for it (256 KiB at first). A buffer that the sequence changes afterwards does not change what is sent.
    ///
    /// Pieces of 4 KiB or more are not copied: libcurl reads them from the buffer's memory, which is kept until it has taken
    /// them or the transfer has ended. The memory may then be released on a loop of the engine, so the `deallocate` of
    /// your own allocator must not block, as with `byteBuffer`. Smaller pieces are copied once, and so are buffers
    /// whose bytes are less than an eighth of their memory, because a few bytes would keep all of it. The bytes that
    /// wait for the server therefore keep at most eight times the credit, or all of a buffer that is larger.
    /// Compression copies the bytes.
    ///
    /// If the sequence throws, the request ends with ``/Errand/ErrandError/uploadFailed``, whose `underlyingError` is that
    /// error. If the request ends early, the task that reads the sequence is cancelled. A redirect or retry that needs the
    /// body again ends with ``/Errand/ErrandError/uploadNotReplayable``, and so does a second start.
    ///
    /// - Parameters:
    ///   - sequence: the buffers.
    ///   - length: the number of bytes in total; `nil`: not known. A sequence with a different number of bytes is
    ///     ``/Errand/ErrandError/invalidBody``.
    ///   - contentType: `nil`: no `Content-Type` is sent.
    public static func byteBuffers<S: AsyncSequence & Sendable>(
        _ sequence: S, length: Int64? = nil, contentType: String? = "application/octet-stream"
    ) -> RequestBody where S.Element == ByteBuffer {
        let once = OneShot(sequence)
        let source = ByteBufferBodySource(length: length, isReplayable: false) { try once.take() }
        return .source(source, contentType: contentType)
    }

    /// The same with a sequence that is made for each transfer, so that redirects and retries can send the body again.
    public static func byteBuffers<S: AsyncSequence>(
        length: Int64? = nil, contentType: String? = "application/octet-stream",
        _ make: @escaping @Sendable () throws -> S
    ) -> RequestBody where S.Element == ByteBuffer {
        .source(ByteBufferBodySource(length: length, isReplayable: true, make), contentType: contentType)
    }
}
