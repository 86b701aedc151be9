public import Errand

extension CommandOptions {
    /// Have the engine write the response's body straight into the memory of a `ByteBuffer`. Then `byteBuffer()` of a body
    /// and `byteBuffers()` of a stream copy nothing: the bytes of libcurl, or those of the decoder, are in the buffer
    /// already.
    ///
    /// ```swift
    /// struct GetFile: Command {
    ///     var path: String
    ///     var options: CommandOptions { .byteBuffers }
    ///     typealias Response = Errand.Response
    /// }
    /// ```
    ///
    /// Everything else reads the same bytes from the same place: text, JSON, interceptors, logs. The option may be set
    /// for one command, in `RequestOverrides.options`, or for all requests of a client in
    /// ``/Errand/Client/Settings/options``.
    ///
    /// - The memory of a buffer may be larger than its bytes: NIO rounds it up to a power of two, the first chunk of a
    ///   stream has memory for the credit (256 KiB), and a decoder is given 64 KiB. A buffer keeps at most eight times its
    ///   bytes, or 4 KiB: bytes in more memory are copied. Before bytes have come, the engine allocates at most the
    ///   credit of a stream, or 8 MiB of a whole body.
    /// - ``/Errand/Response/Body/data`` shares the memory as well, but `Data` and `ByteBuffer` do not know of each other's
    ///   copies. The one that is read first gets the memory, and the other one is a copy (all readers of `data` share
    ///   one). JSON and property lists are decoded from `data`.
    /// - Chunks of less than 4 KiB that wait for the reader are joined, which copies them.
    /// - Responses that the engine did not receive are copied: those of caches, stubs and cassettes, and those with a
    ///   body that an interceptor has made.
    /// - The memory is `malloc`'s, whatever allocator is passed to `byteBuffer(allocator:)`. If `malloc` has no memory,
    ///   NIO ends the process; without this option the request ends with ``/Errand/ErrandError/outOfMemory``, and only
    ///   the copy could end the process.
    /// - A whole body of 4 GiB or more ends the request with ``/Errand/ErrandError/limitBodyBytes`` or
    ///   ``/Errand/ErrandError/limitDecodedBytes``, also where ``/Errand/Limits`` allow more: no `ByteBuffer` can hold it. The
    ///   error does not name this reason. Streams have no such limit.
    /// - With the option for all requests of a client, each chunk of a stream that is read as bytes, lines or events has a
    ///   buffer as well, which costs some more allocations and saves no copy. Downloads, WebSockets and requests whose
    ///   body nobody reads ignore the option.
    ///
    /// Requests without the option pay nothing for it.
    public static let byteBuffers: CommandOptions = {
        BodyMemories.choose(ByteBufferMemory.self)
        return .bodyMemory
    }()
}
