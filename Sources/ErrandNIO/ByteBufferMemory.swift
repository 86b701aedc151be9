import Errand
import NIOCore

/// The memory of a buffer that the engine fills with the body of a response, or with a chunk of it.
///
/// `@unchecked Sendable`: only a loop of the engine changes `buffer`, before it hands the response over. From then on
/// `buffer` is only read.
final class ByteBufferMemory: BodyMemory, @unchecked Sendable {
    /// NIO counts by 32 bits. It rounds a capacity up to the next power of two, or to what 32 bits hold.
    static let largest = Int(UInt32.max) - 1

    /// Its memory may be moved only as long as this is the only reference to it: NIO would copy it otherwise.
    private var buffer: ByteBuffer

    /// The allocator is NIO's own, which is `malloc`: the engine's loop calls it, and must not run code of others. NIO
    /// ends the process if `malloc` has no memory.
    init?(capacity: Int) {
        guard capacity <= Self.largest else { return nil }
        // All buffers without a capacity share one object.
        buffer = ByteBufferAllocator().buffer(capacity: max(1, capacity))
    }

    var bytes: UnsafeMutableRawBufferPointer {
        buffer.withVeryUnsafeMutableBytes { $0 }
    }

    func grow(to capacity: Int) -> Bool {
        guard capacity <= Self.largest else { return false }
        assert(isUnique, "a buffer was handed out before the engine had filled it")
        // `realloc` of the whole capacity, so the bytes behind the writer's index stay, too.
        buffer.reserveCapacity(capacity)
        return true
    }

    /// Whether no other value shares the memory. If one does, access for changes moves the memory.
    private var isUnique: Bool {
        let address = buffer.withVeryUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        return address == buffer.withVeryUnsafeMutableBytes { UInt(bitPattern: $0.baseAddress) }
    }

    /// Whether `count` bytes fill so little of the memory that copying them is better than keeping it. The first chunk
    /// of a stream is in memory for all of its credit, and a decoder is given 64 KiB for a few bytes.
    func isSparse(_ count: Int) -> Bool {
        buffer.capacity > 4096 && count * 8 < buffer.capacity
    }

    /// A buffer of the first `count` bytes, in this memory. NIO copies these bytes before it changes them, as long as this
    /// object exists.
    func filled(_ count: Int) -> ByteBuffer {
        guard count > 0 else { return ByteBuffer() }
        var filled = buffer
        filled.moveWriterIndex(to: count)
        // NIO copies all of a buffer's capacity, and that of the slice is `count`.
        return filled.getSlice(at: 0, length: count) ?? ByteBuffer()
    }
}
