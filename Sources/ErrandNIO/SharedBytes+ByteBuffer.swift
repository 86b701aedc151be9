public import Errand
public import NIOCore

extension SharedBytes {
    /// The readable bytes of a buffer, as they are now, without a copy. Any thread.
    ///
    /// For an interceptor that puts a buffer into ``/Errand/RequestDescription/body``, and for a transport. The storage of
    /// the buffer is kept as long as a copy of this value is. A later change of the buffer does not change these bytes,
    /// because NIO copies the storage before it changes it, unless the buffer has the only reference to it.
    ///
    /// The last reference to the storage may be released on a loop of the engine. The `deallocate` of your own
    /// allocator (NIO's SPI `CustomByteBufferAllocator`) must therefore not block, and must not wait for a request.
    public init(_ buffer: ByteBuffer) {
        self = buffer.withUnsafeReadableBytesWithStorageManagement { bytes, storage in
            SharedBytes(bytes, owner: storage.takeUnretainedValue())
        }
    }
}
