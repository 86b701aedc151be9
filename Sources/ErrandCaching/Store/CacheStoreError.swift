/// Why a store could not do what it was asked to. The request whose response was to be kept or found goes on without.
///
/// Two errors are equal when their kind is; the message does not count.
public struct CacheStoreError: Error, Sendable {
    private enum Code: String {
        case storageFull, corrupt, locked, readOnly, recordTooLarge, pathRefused, unavailable, ioFailed
    }

    private let code: Code
    /// What happened, in words.
    public let message: String

    private init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The disk, the quota or the file size limit is used up.
    public static let storageFull = CacheStoreError(.storageFull, "no space is left for the cache")
    /// What is stored is damaged, and could not be replaced.
    public static let corrupt = CacheStoreError(.corrupt, "the cache is damaged")
    /// Another process or thread held the store for longer than the store waits.
    public static let locked = CacheStoreError(.locked, "the cache is locked")
    /// The store can be read but not written.
    public static let readOnly = CacheStoreError(.readOnly, "the cache cannot be written")
    /// One record is beyond what the store takes; what it had for that key is gone.
    public static let recordTooLarge = CacheStoreError(.recordTooLarge, "the record is too large for the cache")
    /// The place for the store cannot be used: no absolute path, something else there, no permission.
    public static let pathRefused = CacheStoreError(.pathRefused, "the cache's place cannot be used")
    /// The store is switched off, or lacks what it needs.
    public static let unavailable = CacheStoreError(.unavailable, "the cache is switched off")
    /// The system failed to read or write.
    public static let ioFailed = CacheStoreError(.ioFailed, "reading or writing the cache failed")

    /// The same kind of error in other words.
    public func with(message: String) -> CacheStoreError {
        CacheStoreError(code, message)
    }

    /// A short, stable, low-cardinality name such as `storageFull`, fit for a metric label.
    public var shortDescription: String { code.rawValue }
}

extension CacheStoreError: Hashable {
    /// Whether both are of one kind.
    public static func == (left: CacheStoreError, right: CacheStoreError) -> Bool {
        left.code == right.code
    }

    /// Takes in the kind alone.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
    }
}

extension CacheStoreError: CustomStringConvertible {
    /// The kind and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}
