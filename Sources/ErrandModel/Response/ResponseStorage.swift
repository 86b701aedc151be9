import FoundationEssentials
import Synchronization

/// The memory behind a ``Response``. Open for the engine, whose memory is the core's: `package` classes have no subclasses in
/// other modules. The base class of what the engine hands over and of what Swift code makes.
///
/// `@unchecked Sendable`: everything but the lazy `shared` is set in the initialiser and not changed until `deinit`; the
/// buffers point at memory that nobody writes while the object lives (see `data`).
@_spi(ErrandEngine) open class ResponseStorage: @unchecked Sendable {
    let statusCode: Int
    /// The status line and the fields.
    package let head: UnsafeRawBufferPointer
    let body: UnsafeRawBufferPointer
    private let memory: Memory
    private let shared = Mutex<Shared?>(nil)
    /// Whether `shared` has a value, and with it the duty to free the memory.
    private let isShared = Atomic<Bool>(false)

    /// What to free, and how.
    ///
    /// `@unchecked Sendable`: the pointer is only passed to `free`, once, by whoever is left last.
    public struct Memory: @unchecked Sendable {
        package let pointer: UnsafeMutableRawPointer
        let free: @Sendable (UnsafeMutableRawPointer) -> Void

        /// Memory that `free` gives back.
        public init(pointer: UnsafeMutableRawPointer, free: @escaping @Sendable (UnsafeMutableRawPointer) -> Void) {
            self.pointer = pointer
            self.free = free
        }
    }

    /// Frees the memory when neither the storage nor any `Data` of it is left.
    private final class MemoryOwner: Sendable {
        private let memory: Memory
        init(_ memory: Memory) { self.memory = memory }
        deinit { memory.free(memory.pointer) }
    }

    private struct Shared {
        let owner: MemoryOwner
        let data: Data
    }

    /// A copy of so few bytes costs less than sharing them.
    private static let leastShared = 64

    /// Owns: `memory`, which is freed with the last reference to it.
    public init(statusCode: Int, head: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer, memory: Memory) {
        self.statusCode = statusCode
        self.head = head
        self.body = body
        self.memory = memory
    }

    deinit {
        if !isShared.load(ordering: .relaxed) { memory.free(memory.pointer) }
    }

    /// The body as `Data` over this memory. `Data` writes in place while it is the only reference to its buffer, one that
    /// was made without a copy included; so there is one buffer, and the reference kept here makes everybody else's
    /// copy on writing for as long as a response may read the memory.
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
    /// Of the body on the wire.
    open var bytesReceived: UInt64 { metrics.bytesReceived }
    /// `nil` where no cache had to do with it.
    package var cacheInfo: (any CacheInfo)? { nil }

    /// The fields without the status line.
    final var fieldBlock: UnsafeRawBufferPointer {
        guard let lineEnd = head.firstIndex(of: 0x0A) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: head[(lineEnd + 1)...])
    }
}

/// Memory of Swift's own, with what a cache, a stream or a download says of the response.
///
/// `@unchecked Sendable`: what it adds to its base is not changed after the initialiser.
package final class OwnedResponseStorage: ResponseStorage, @unchecked Sendable {
    private let given: TransferMetrics?
    private let trailerBytes: UnsafeRawBufferPointer
    private let info: (any CacheInfo)?
    /// What a part of the library keeps with its response.
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

/// Another storage's memory, which is kept for as long as this object and each `Data` of the body live, with what a cache
/// says of the response.
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
