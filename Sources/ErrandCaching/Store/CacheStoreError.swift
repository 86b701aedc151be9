/// Why a store could not do an operation. The request whose response was to be stored or read continues without the
/// store.
///
/// Two errors are equal when their kinds are equal; the message does not count.
public struct CacheStoreError: Error, Sendable {
    private enum Code: String {
        case storageFull, corrupt, locked, readOnly, recordTooLarge, pathRefused, unavailable, ioFailed
    }

    private let code: Code
    /// Describes the failure in words.
    public let message: String

    private init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The disk, the quota or the file size limit is used up.
    public static let storageFull = CacheStoreError(.storageFull, "the cache has no space left")
    /// The stored data is damaged and could not be replaced.
    public static let corrupt = CacheStoreError(.corrupt, "the cache is damaged")
    /// Another process or thread held the store for longer than the store waits.
    public static let locked = CacheStoreError(.locked, "the cache is locked")
    /// The store can be read but not written.
    public static let readOnly = CacheStoreError(.readOnly, "the cache is read-only")
    /// The record is larger than the store's limit. The old record with that key is gone.
    public static let recordTooLarge = CacheStoreError(.recordTooLarge, "the record is larger than the cache's limit")
    /// The path of the store cannot be used: not absolute, occupied by something else, or no permission.
    public static let pathRefused = CacheStoreError(.pathRefused, "the cache's path cannot be used")
    /// The store is switched off, or something that it needs is missing.
    public static let unavailable = CacheStoreError(.unavailable, "the cache is disabled")
    /// The system failed to read or write.
    public static let ioFailed = CacheStoreError(.ioFailed, "reading or writing the cache failed")

    /// The same kind of error with another message.
    public func with(message: String) -> CacheStoreError {
        CacheStoreError(code, message)
    }

    /// A short, stable, low-cardinality name such as `storageFull`, fit for a metric label.
    public var shortDescription: String { code.rawValue }
}

extension CacheStoreError: Hashable {
    /// Whether both errors are of the same kind.
    public static func == (left: CacheStoreError, right: CacheStoreError) -> Bool {
        left.code == right.code
    }

    /// Hashes the kind only.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
    }
}

extension CacheStoreError: CustomStringConvertible {
    /// The kind and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}
