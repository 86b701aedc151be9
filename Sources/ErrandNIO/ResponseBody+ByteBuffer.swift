public import Errand
public import NIOCore

extension Response.Body {
    /// The bytes in a buffer of SwiftNIO. Nothing is copied if the request had the option `CommandOptions.byteBuffers`
    /// and ``/Errand/Response/Body/data`` was not read before. The buffer then has the memory in which the body has
    /// arrived, and as long as a response has this memory, too, NIO copies it before changing it. If the body is in
    /// more than 4 KiB of memory and fills less than an eighth of it, the buffer is a copy, and the memory is not kept.
    /// In all other cases the bytes are copied once, because `ByteBuffer` cannot refer to memory that NIO did not
    /// allocate. `data` and `withBytes` of a body copy nothing; `bytes` copies once, too. Any thread.
    ///
    /// - Parameter allocator: Makes the buffer if the bytes are copied; optionally a channel's own.
    ///
    /// Throws ``/Errand/ErrandError/limitBodyBytes`` for a body of 4 GiB or more, which no `ByteBuffer` can hold.
    public func byteBuffer(allocator: ByteBufferAllocator = ByteBufferAllocator()) throws(ErrandError) -> ByteBuffer {
        if let arrived { return arrived }
        // A capacity is rounded up to the next power of two, up to what 32 bits hold.
        guard count < UInt32.max else {
            throw ErrandError.limitBodyBytes.with(message: "a body of \(count) bytes does not fit into a ByteBuffer")
        }
        return withBytes { allocator.buffer(copying: $0) }
    }

    /// The buffer in which the bytes have arrived; `nil`: they are in other memory, `data` has it, or it is sparse.
    var arrived: ByteBuffer? {
        let count = count
        let owner = shareOwner { owner in
            guard let memory = owner as? ByteBufferMemory else { return false }
            return !memory.isSparse(count)
        }
        return (owner as? ByteBufferMemory)?.filled(count)
    }
}
