import Glibc
public import Logging
import Synchronization

/// The responses that a client stores: a store, and the settings that apply to all responses in it.
///
/// ```swift
/// var configuration = Client.Configuration(baseURL: "https://api.example.org/")
/// configuration.cache = ResponseCache(SQLiteCacheStore(named: "my-service"))
/// configuration.settings.cache = .http
/// ```
///
/// Each command's ``CachePolicy`` decides whether a response is stored, and for how long. Several clients may share one
/// cache. It may be used from any thread. Only callers of this object's `async` methods wait for the store; requests do
/// not. If the store fails, a response is not stored or not found; the request does not fail. The failure is logged
/// once.
public final class ResponseCache: Sendable {
    /// The name of the cache in ``Response/cacheStatus``.
    public let name: String
    /// Whether the cache serves more than one user (RFC 9111 1). With ``CachePolicy/http``, a shared cache ignores
    /// credentials and stores only responses that all users may receive. With a timed policy, credentials are part of
    /// the key in a shared cache too.
    public let isShared: Bool
    /// The version of the program; see
    /// ``CachePolicy/timed(_:version:sensitiveData:requiresApplicationVersion:reading:)``.
    public let applicationVersion: String?
    /// The namespace of policies that set none.
    public let namespace: String
    let rules: HTTPCacheRules
    package let store: any CacheStore
    let queue: CacheStoreQueue
    let changes = CacheChanges()
    let heads = HTTPHeadMemo()
    private let clock: @Sendable () -> Int64
    private let holdsHTTP: Atomic<Bool>

    /// Larger responses are not stored, whatever limit the store has: 16 MiB.
    static let largestBody = 16 << 20

    /// Creates a cache over a store.
    ///
    /// - Parameters:
    ///   - store: Default: 32 MiB of memory.
    ///   - name: For ``Response/cacheStatus``. Default: `errand`.
    ///   - isShared: See ``isShared``. Default: no.
    ///   - applicationVersion: See ``applicationVersion``. Default: `nil`.
    ///   - namespace: Default: empty.
    ///   - heuristicPercent: The heuristic freshness lifetime if the server sets none, in percent of the time since
    ///     the response was last modified; one day at most (RFC 9111 4.2.2). 0: no heuristic freshness. Default: 10.
    ///   - logger: Receives a warning with the reason when the store begins to fail.
    ///   - now: Milliseconds since 1970. Default, `nil`: the system's clock.
    public init(
        _ store: any CacheStore = MemoryCacheStore(), name: String = "errand", isShared: Bool = false,
        applicationVersion: String? = nil, namespace: String = "", heuristicPercent: Int = 10,
        logger: Logger = Logger(label: "errand.cache"), now: (@Sendable () -> Int64)? = nil
    ) {
        self.store = store
        self.name = name
        self.isShared = isShared
        self.applicationVersion = applicationVersion
        self.namespace = namespace
        rules = HTTPCacheRules(isShared: isShared, heuristicPercent: heuristicPercent)
        clock = now ?? Self.wallClock
        queue = CacheStoreQueue(store) { health in Self.write(health, to: logger) }
        // A persistent store may hold responses of an earlier process.
        holdsHTTP = Atomic(!(store is MemoryCacheStore))
    }

    private static let wallClock = { @Sendable () -> Int64 in
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static func write(_ health: CacheHealth, to logger: Logger) {
        let metadata: Logger.Metadata = [
            "condition": "\(health.condition)", "repairs": "\(health.repairs)",
            "reason": "\(health.reason.map { $0.description } ?? "none")",
        ]
        if health.condition == .working, health.reason == nil {
            logger.info("the response cache works again", metadata: metadata)
        } else {
            logger.warning("the response cache's store failed", metadata: metadata)
        }
    }

    /// The health of the store.
    public var health: CacheHealth { store.health }

    // MARK: Removing
    // A response whose transfer runs during a removal is delivered to its request but not stored. For removals by age,
    // this applies to responses that confirm a stored response (304).

    /// Removes a response for all users; see ``Client/cacheKey(for:overrides:)``. Reads that start after this call do
    /// not find the response.
    public func remove(_ key: CacheKey) {
        changes.noteRemoval(of: [key.removalName])
        queue.barrier { (store) throws(CacheStoreError) in
            guard let record = try store.read(key), let index = HTTPVariantIndex(record) else { return }
            for variant in index.variants {
                if let key = variant.key(below: key) { try store.remove(key) }
            }
        }
        // A separate call, not part of the barrier: the queue retries this removal if the store fails.
        queue.remove(key)
    }

    /// Removes the responses with that tag (``CachePolicy/tags``). Returns the number of records removed.
    @discardableResult
    public func remove(tag: String) async throws(CacheStoreError) -> Int {
        changes.noteRemoval(of: [tag])
        return try await queue.perform { (store) throws(CacheStoreError) in try store.remove(tag: tag) }
    }

    /// Removes the responses that were stored longer ago than `age`. Returns the number of records removed.
    @discardableResult
    public func remove(olderThan age: Duration) async throws(CacheStoreError) -> Int {
        let instant = now - age.cacheMilliseconds
        changes.noteRemoval(olderThan: instant)
        return try await queue.perform { (store) throws(CacheStoreError) in try store.remove(olderThan: instant) }
    }

    /// Removes all responses of all namespaces. Returns the number of records removed.
    @discardableResult
    public func removeAll() async throws(CacheStoreError) -> Int {
        changes.noteRemovalOfAll()
        return try await queue.perform { (store) throws(CacheStoreError) in try store.removeAll() }
    }

    /// The number and size of the stored records, and the hits, misses and evictions of the store.
    public func statistics() async throws(CacheStoreError) -> CacheStatistics {
        try await queue.perform { (store) throws(CacheStoreError) in try store.statistics() }
    }

    /// Returns when all pending writes and removals are done. If the store is persistent, call this before the program
    /// ends.
    public func flush() async {
        await queue.flush()
    }

    // MARK: For requests

    /// Milliseconds since 1970.
    package var now: Int64 { clock() }

    /// Whether the body is small enough to be copied for the store.
    func takes(_ response: Response) -> Bool {
        response.body.count <= Self.largestBody && store.accepts(byteCount: response.body.count)
    }

    package func store(_ record: CacheRecord, for key: CacheKey) {
        queue.write(record, for: key)
    }

    /// SHA-256 in hexadecimal digits, as bytes. If libcrypto fails: random bytes, which never match.
    static let digest: VaryValues.Digest = { bytes in
        guard let digest = SHA256.digest(of: bytes) else { return (0..<32).map { _ in UInt8.random(in: 0...255) } }
        return Array(SHA256.hex(digest).utf8)
    }

    // MARK: RFC 9111 4.4

    /// Whether the store may hold a response that a request with an unsafe method has to invalidate.
    package var mayHoldHTTP: Bool { holdsHTTP.load(ordering: .relaxed) }

    package func willHoldHTTP() {
        if !mayHoldHTTP { holdsHTTP.store(true, ordering: .relaxed) }
    }

    /// The tag of all responses stored for that URL, for all users. It begins with a control character, so no tag that
    /// a user sets is equal to it.
    static func tag(of url: String) -> String? {
        SHA256.digest(of: Array(url.utf8)).map { "\u{1}" + SHA256.hex($0) }
    }

    /// Invalidates the responses that are stored for these URLs. Reads that start after this call do not find them.
    package func invalidate(_ urls: [String]) {
        let tags = urls.compactMap(Self.tag)
        guard !tags.isEmpty else { return }
        changes.noteRemoval(of: tags)
        queue.barrier { (store) throws(CacheStoreError) in
            // Remove all tags, even after a failure: the store has to record each removal that failed, and a layer
            // above the store removes only when it is called.
            var failure: CacheStoreError?
            for tag in tags {
                do throws(CacheStoreError) {
                    try store.remove(tag: tag)
                } catch {
                    failure = failure ?? error
                }
            }
            if let failure { throw failure }
        }
    }
}
