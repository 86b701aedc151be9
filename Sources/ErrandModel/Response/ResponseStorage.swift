import FoundationEssentials
import Synchronization

/// The memory behind a ``Response``: the base class of the engine's responses and of those made in Swift. The class is
/// `open` because the engine, whose memory is the core's, subclasses it from another module, which `package` does not
/// allow.
///
/// `@unchecked Sendable`: everything except the lazy `sharing` is set in the initialiser and not changed until `deinit`;
/// the buffers point at memory that is not written while the object lives (see `data`).
@_spi(ErrandEngine) open class ResponseStorage: @unchecked Sendable {
    let statusCode: Int
    /// The status line and the fields.
    package let head: UnsafeRawBufferPointer
    let body: UnsafeRawBufferPointer
    private let memory: Memory
    private let sharing = Mutex(Sharing.none)
    /// Whether `sharing` is `.data`, which is then responsible for freeing the memory.
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

    /// Who shares the memory of the body, besides the responses, which only read it. Only one kind may share it, because
    /// each kind knows only its own copies: a `Data` with the only reference to its buffer writes in place.
    private enum Sharing {
        case none
        case data(MemoryOwner, Data)
        /// Those who got `bodyOwner`. `data` then is a copy, which the first reader makes.
        case owner(copy: Data?)
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
    /// other `Data` copies before it writes, for as long as a response may read the memory. A storage over the memory of
    /// another storage asks that storage for the buffer: two buffers over one memory would not know of each other.
    var data: Data {
        guard let base = body.baseAddress, body.count >= Self.leastShared else { return Data(body) }
        if let data = sharedData(base) { return data }
        // Outside of the lock: the copy of a large body takes long.
        let copy = Data(body)
        return sharing.withLock { sharing in
            guard case .owner(copy: let first) = sharing else { return copy }
            if let first { return first }
            sharing = .owner(copy: copy)
            return copy
        }
    }

    /// The `Data` that there is, or one over this memory; `nil`: others share the memory, and there is no copy yet.
    private func sharedData(_ base: UnsafeRawPointer) -> Data? {
        sharing.withLock { sharing -> Data? in
            switch sharing {
            case .data(_, let data): return data
            case .owner(copy: let copy): return copy
            case .none: break
            }
            let owner = MemoryOwner(memory)
            let data = Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: body.count,
                deallocator: .custom { _, _ in withExtendedLifetime(owner) {} })
            sharing = .data(owner, data)
            isShared.store(true, ordering: .relaxed)
            return data
        }
    }

    /// The owner of the body's memory, for sharing the memory. `nil` if `data` shares it already, if there is no owner, or
    /// if `isWanted` returns false for the owner: `data` may share the memory then.
    func shareOwner(where isWanted: (AnyObject) -> Bool) -> AnyObject? {
        guard let owner = bodyOwner, isWanted(owner) else { return nil }
        let isFree = sharing.withLock { sharing in
            switch sharing {
            case .data: return false
            case .owner: return true
            case .none:
                sharing = .owner(copy: nil)
                return true
            }
        }
        return isFree ? owner : nil
    }

    /// The object that owns only the memory of the body; `nil`: it is the engine's memory, or Swift's.
    open var bodyOwner: AnyObject? { nil }
    open var trailers: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
    open var metrics: TransferMetrics { TransferMetrics() }
    /// The numbers of ``metrics``, for code that reads them of every transfer.
    open var figures: TransferFigures { TransferFigures(metrics) }
    /// Bytes of the body on the wire.
    open var bytesReceived: UInt64 { metrics.bytesReceived }

    /// `nil` if no cache took part.
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
/// this object lives, and shares the memory for all storages over it.
///
/// `@unchecked Sendable`: everything is set in the initialiser; see the base class.
final class MarkedResponseStorage: ResponseStorage, @unchecked Sendable {
    private let info: any CacheInfo
    private let base: ResponseStorage

    override var cacheInfo: (any CacheInfo)? { info }
    public override var trailers: UnsafeRawBufferPointer { base.trailers }
    public override var metrics: TransferMetrics { base.metrics }
    public override var figures: TransferFigures { base.figures }
    override var data: Data { base.data }

    override func shareOwner(where isWanted: (AnyObject) -> Bool) -> AnyObject? {
        base.shareOwner(where: isWanted)
    }

    init(_ base: ResponseStorage, _ info: any CacheInfo) {
        self.info = info
        self.base = base
        super.init(
            statusCode: base.statusCode, head: base.head, body: base.body,
            memory: Memory(pointer: Unmanaged.passUnretained(base).toOpaque()) { _ in })
    }
}
