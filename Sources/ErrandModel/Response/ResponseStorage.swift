import FoundationEssentials
import Synchronization

/// The memory behind a ``Response``: the base class of the engine's responses and of those made in Swift. The class is
/// `open` because the engine, whose memory is the core's, subclasses it from another module, which `package` does not
/// allow.
///
/// `@unchecked Sendable`: everything except the lazy `shared` is set in the initialiser and not changed until `deinit`;
/// the buffers point at memory that is not written while the object lives (see `data`).
@_spi(ErrandEngine) open class ResponseStorage: @unchecked Sendable {
    let statusCode: Int
    /// The status line and the fields.
    package let head: UnsafeRawBufferPointer
    let body: UnsafeRawBufferPointer
    private let memory: Memory
    private let shared = Mutex<Shared?>(nil)
    /// Whether `shared` has a value, which is then responsible for freeing the memory.
    private let isShared = Atomic<Bool>(false)

    /// The memory to free, and the function that frees it.
    ///
    /// `@unchecked Sendable`: the pointer is only passed to `free`, once, by the last owner.
    public struct Memory: @unchecked Sendable {
        package let pointer: UnsafeMutableRawPointer
        let free: @Sendable (UnsafeMutableRawPointer) -> Void

        /// Memory that `free` releases.
        public init(pointer: UnsafeMutableRawPointer, free: @escaping @Sendable (UnsafeMutableRawPointer) -> Void) {
            self.pointer = pointer
            self.free = free
        }
    }

    /// Frees the memory when the storage and all its `Data` are gone.
    private final class MemoryOwner: Sendable {
        private let memory: Memory
        init(_ memory: Memory) { self.memory = memory }
        deinit { memory.free(memory.pointer) }
    }

    private struct Shared {
        let owner: MemoryOwner
        let data: Data
    }

    /// Bodies smaller than this are copied, which costs less than sharing them.
    private static let leastShared = 64

    /// Owns `memory`, which is freed with the last reference to it.
    public init(statusCode: Int, head: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer, memory: Memory) {
        self.statusCode = statusCode
        self.head = head
        self.body = body
        self.memory = memory
    }

    deinit {
        if !isShared.load(ordering: .relaxed) { memory.free(memory.pointer) }
    }

    /// The body as `Data` over this memory. `Data` writes in place while it has the only reference to its buffer, also
    /// to a buffer made without a copy. Therefore there is one buffer, and the storage keeps a reference to it: every
    /// other `Data` copies before it writes, for as long as a response may read the memory.
    final var data: Data {
        guard let base = body.baseAddress, body.count >= Self.leastShared else { return Data(body) }
        return shared.withLock { shared in
            if let shared { return shared.data }
            let owner = MemoryOwner(memory)
            let data = Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: body.count,
                deallocator: .custom { _, _ in withExtendedLifetime(owner) {} })
            shared = Shared(owner: owner, data: data)
            isShared.store(true, ordering: .relaxed)
            return data
        }
    }

    open var trailers: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
    open var metrics: TransferMetrics { TransferMetrics() }
    /// Bytes of the body on the wire.
    open var bytesReceived: UInt64 { metrics.bytesReceived }
    /// `nil` where no cache took part.
    package var cacheInfo: (any CacheInfo)? { nil }

    /// The fields without the status line.
    final var fieldBlock: UnsafeRawBufferPointer {
        guard let lineEnd = head.firstIndex(of: 0x0A) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: head[(lineEnd + 1)...])
    }
}

/// Memory allocated by Swift, with the data of a cache, a stream or a download about the response.
///
/// `@unchecked Sendable`: the members that it adds to its base are not changed after the initialiser.
package final class OwnedResponseStorage: ResponseStorage, @unchecked Sendable {
    private let given: TransferMetrics?
    private let trailerBytes: UnsafeRawBufferPointer
    private let info: (any CacheInfo)?
    /// A value that another part of the library stores with its response.
    package let attachment: (any Sendable)?

    public override var metrics: TransferMetrics { given ?? TransferMetrics() }
    public override var trailers: UnsafeRawBufferPointer { trailerBytes }
    package override var cacheInfo: (any CacheInfo)? { info }

    /// Copies the bytes.
    package init(
        statusCode: Int, head: some Collection<UInt8>, body: some Collection<UInt8>, metrics: TransferMetrics? = nil,
        trailers: some Collection<UInt8> = EmptyCollection<UInt8>(), cacheInfo: (any CacheInfo)? = nil,
        attachment: (any Sendable)? = nil
    ) {
        given = metrics
        info = cacheInfo
        self.attachment = attachment
        let bodyEnd = head.count + body.count
        let count = bodyEnd + trailers.count
        let base = UnsafeMutableRawPointer.allocate(byteCount: max(1, count), alignment: 1)
        let memory = UnsafeMutableRawBufferPointer(start: base, count: count)
        memory.copyBytes(from: head)
        UnsafeMutableRawBufferPointer(rebasing: memory[head.count...]).copyBytes(from: body)
        UnsafeMutableRawBufferPointer(rebasing: memory[bodyEnd...]).copyBytes(from: trailers)
        let whole = UnsafeRawBufferPointer(memory)
        trailerBytes = UnsafeRawBufferPointer(rebasing: whole[bodyEnd...])
        super.init(
            statusCode: statusCode, head: UnsafeRawBufferPointer(rebasing: whole[..<head.count]),
            body: UnsafeRawBufferPointer(rebasing: whole[head.count..<bodyEnd]),
            memory: Memory(pointer: base) { $0.deallocate() })
    }
}

/// The memory of another storage with the data of a cache about the response. The other storage is kept for as long as
/// this object and each `Data` of the body live.
///
/// `@unchecked Sendable`: everything is set in the initialiser; see the base class.
final class MarkedResponseStorage: ResponseStorage, @unchecked Sendable {
    private let info: any CacheInfo
    private let base: ResponseStorage

    override var cacheInfo: (any CacheInfo)? { info }
    public override var trailers: UnsafeRawBufferPointer { base.trailers }
    public override var metrics: TransferMetrics { base.metrics }

    init(_ base: ResponseStorage, _ info: any CacheInfo) {
        self.info = info
        self.base = base
        super.init(
            statusCode: base.statusCode, head: base.head, body: base.body,
            memory: Memory(pointer: Unmanaged.passRetained(base).toOpaque()) {
                Unmanaged<ResponseStorage>.fromOpaque($0).release()
            })
    }
}
