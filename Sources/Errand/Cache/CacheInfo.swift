/// What a cache had to do with a response.
final class CacheInfo: Sendable {
    /// Whether it was there before the request was made.
    let isServed: Bool
    let status: CacheStatus

    init(isServed: Bool, _ status: CacheStatus) {
        self.isServed = isServed
        self.status = status
    }
}

/// A response that a cache had to do with: one that it kept, or one of the network's that passed it.
///
/// `@unchecked Sendable`: everything is set in the initialiser; see the base class.
final class CachedStorage: ResponseStorage, @unchecked Sendable {
    private let info: CacheInfo
    /// What has the memory, where that is not this object's own.
    private let base: ResponseStorage?

    override var cacheInfo: CacheInfo? { info }
    override var trailers: UnsafeRawBufferPointer { base?.trailers ?? UnsafeRawBufferPointer(start: nil, count: 0) }
    override var metrics: TransferMetrics { given ?? base?.metrics ?? TransferMetrics() }
    private let given: TransferMetrics?

    /// Of bytes that are copied; `metrics`: what it cost to learn that they still hold.
    init(statusCode: Int, head: [UInt8], body: [UInt8], _ info: CacheInfo, metrics: TransferMetrics? = nil) {
        self.info = info
        base = nil
        given = metrics
        let count = head.count + body.count
        let start = UnsafeMutableRawPointer.allocate(byteCount: max(1, count), alignment: 1)
        let memory = UnsafeMutableRawBufferPointer(start: start, count: count)
        memory.copyBytes(from: head)
        UnsafeMutableRawBufferPointer(rebasing: memory[head.count...]).copyBytes(from: body)
        let whole = UnsafeRawBufferPointer(memory)
        super.init(
            statusCode: statusCode, head: UnsafeRawBufferPointer(rebasing: whole[..<head.count]),
            body: UnsafeRawBufferPointer(rebasing: whole[head.count...]),
            memory: Memory(pointer: start) { $0.deallocate() })
    }

    /// Of another's memory, kept until that of this object would be freed: a `Data` of the body may outlive both.
    init(_ base: ResponseStorage, _ info: CacheInfo) {
        self.info = info
        self.base = base
        given = nil
        super.init(
            statusCode: base.statusCode, head: base.head, body: base.body,
            memory: Memory(pointer: Unmanaged.passRetained(base).toOpaque()) {
                Unmanaged<ResponseStorage>.fromOpaque($0).release()
            })
    }
}

extension Response {
    /// What the client's cache did, as a `Cache-Status` field says it (RFC 9211), behind what caches nearer to the server
    /// wrote there: `errand; hit; ttl=376`. `nil` where the request was not cached (``CachePolicy/off``).
    public var cacheStatus: String? {
        storage.cacheInfo.map { $0.status.appended(to: header(.cacheStatus)) }
    }

    /// Whether it was stored before the request was made; false for one that the server has just confirmed (304).
    public var isFromCache: Bool { storage.cacheInfo?.isServed ?? false }

    func marked(_ info: CacheInfo) -> Response {
        var response = Response(storage: CachedStorage(storage, info))
        response.decoder = decoder
        return response
    }
}
