import Glibc
public import Logging
import Synchronization

/// Where a client keeps responses: a store, and what is the same for all that it keeps.
///
/// ```swift
/// var configuration = Client.Configuration(baseURL: "https://api.example.org/")
/// configuration.cache = ResponseCache(SQLiteCacheStore(named: "my-service"))
/// configuration.settings.cache = .http
/// ```
///
/// Whether a response is kept, and for how long, is its command's ``CachePolicy``. Several clients may share one. Any thread;
/// nobody waits for the store but who asks this object something: what fails there costs a response that is not kept or
/// found, never a request, and is written to the log once.
public final class ResponseCache: Sendable {
    /// How it calls itself in ``Response/cacheStatus``.
    public let name: String
    /// Whether it serves more than one user (RFC 9111 1): with ``CachePolicy/http`` it does not look at credentials then, and
    /// keeps only what may be told to all. By time and version credentials count all the same.
    public let isShared: Bool
    /// The version of the program; see
    /// ``CachePolicy/timed(_:version:sensitiveData:requiresApplicationVersion:reading:)``.
    public let applicationVersion: String?
    /// Of policies that name none.
    public let namespace: String
    let rules: HTTPCacheRules
    let store: any CacheStore
    let queue: CacheStoreQueue
    let changes = CacheChanges()
    let heads = HTTPHeadMemo()
    private let clock: @Sendable () -> Int64
    private let holdsHTTP: Atomic<Bool>

    /// Responses larger than that are not kept, whatever the store takes: 16 MiB.
    static let largestBody = 16 << 20

    /// Makes one over a store.
    ///
    /// - Parameters:
    ///   - store: Default: 32 MiB of memory.
    ///   - name: For ``Response/cacheStatus``. Default: `errand`.
    ///   - isShared: See ``isShared``. Default: no.
    ///   - applicationVersion: See ``applicationVersion``. Default: `nil`.
    ///   - namespace: Default: empty.
    ///   - heuristicPercent: How much of the time since its last change a response is fresh for where the server names no
    ///     time, a day at most (RFC 9111 4.2.2); 0: none is. Default: 10.
    ///   - logger: Told, as a warning, when the store begins to fail, and why.
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
        // What an earlier process has put into a store that lasts is not known.
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
            logger.warning("the response cache's store fails", metadata: metadata)
        }
    }

    /// How the store is doing.
    public var health: CacheHealth { store.health }

    // MARK: Removing
    // A response that is on its way then is told to whoever asked for it, and not stored: of removals by age this holds
    // for those that confirm what was stored (304).

    /// Removes a response, whoever asked for it; see ``Client/cacheKey(for:overrides:)``. It is not found any more once this
    /// was called.
    public func remove(_ key: CacheKey) {
        changes.noteRemoval(of: [key.removalName])
        queue.barrier { (store) throws(CacheStoreError) in
            guard let record = try store.read(key), let index = HTTPVariantIndex(record) else { return }
            for variant in index.variants {
                if let key = variant.key(below: key) { try store.remove(key) }
            }
        }
        // Not left to the barrier: this is tried again where the store fails.
        queue.remove(key)
    }

    /// Removes the responses with that tag (``CachePolicy/Members/tags``). Returns how many records that were.
    @discardableResult
    public func remove(tag: String) async throws(CacheStoreError) -> Int {
        changes.noteRemoval(of: [tag])
        return try await queue.perform { (store) throws(CacheStoreError) in try store.remove(tag: tag) }
    }

    /// Removes the responses that were stored longer ago. Returns how many records that were.
    @discardableResult
    public func remove(olderThan age: Duration) async throws(CacheStoreError) -> Int {
        let instant = now - age.cacheMilliseconds
        changes.noteRemoval(olderThan: instant)
        return try await queue.perform { (store) throws(CacheStoreError) in try store.remove(olderThan: instant) }
    }

    /// Removes all responses, of all namespaces. Returns how many records that were.
    @discardableResult
    public func removeAll() async throws(CacheStoreError) -> Int {
        changes.noteRemovalOfAll()
        return try await queue.perform { (store) throws(CacheStoreError) in try store.removeAll() }
    }

    /// What the store holds and did.
    public func statistics() async throws(CacheStoreError) -> CacheStatistics {
        try await queue.perform { (store) throws(CacheStoreError) in try store.statistics() }
    }

    /// Returns when all that was to be stored or removed is: before a program ends, for a store that lasts.
    public func flush() async {
        await queue.flush()
    }

    // MARK: For requests

    /// Milliseconds since 1970.
    package var now: Int64 { clock() }

    /// Whether a body is not too large to be copied for the store.
    func takes(_ response: Response) -> Bool {
        response.body.count <= Self.largestBody && store.accepts(byteCount: response.body.count)
    }

    package func store(_ record: CacheRecord, for key: CacheKey) {
        queue.write(record, for: key)
    }

    /// SHA-256 in hexadecimal digits, as bytes; of what must never match, where libcrypto fails.
    static let digest: VaryValues.Digest = { bytes in
        guard let digest = SHA256.digest(of: bytes) else { return (0..<32).map { _ in UInt8.random(in: 0...255) } }
        return Array(SHA256.hex(digest).utf8)
    }

    // MARK: RFC 9111 4.4

    /// Whether something may be stored that a request of an unsafe method makes void.
    package var mayHoldHTTP: Bool { holdsHTTP.load(ordering: .relaxed) }

    package func willHoldHTTP() {
        if !mayHoldHTTP { holdsHTTP.store(true, ordering: .relaxed) }
    }

    /// What all responses are tagged by that are stored for that URL, whoever asked for them. No tag of a user's: it begins
    /// with a control character.
    static func tag(of url: String) -> String? {
        SHA256.digest(of: Array(url.utf8)).map { "\u{1}" + SHA256.hex($0) }
    }

    /// No read from here on finds what is stored for these URLs.
    package func invalidate(_ urls: [String]) {
        let tags = urls.compactMap(Self.tag)
        guard !tags.isEmpty else { return }
        changes.noteRemoval(of: tags)
        queue.barrier { (store) throws(CacheStoreError) in
            // All of them: a store that fails owes what it was called with, and a layer above it removes only then.
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
