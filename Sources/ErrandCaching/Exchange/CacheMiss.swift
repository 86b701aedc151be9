/// Why the cache has no response for a request that reads only the cache; see ``ErrandError/cacheMissReason``.
///
/// YTKNetwork: `YTKRequestCacheErrorDomain`.
public enum CacheMiss: String, Error, Sendable, Hashable, CaseIterable {
    /// The response has expired, or must not be used without revalidation (`YTKRequestCacheErrorExpired`).
    case expired
    /// The response was stored with another version (`YTKRequestCacheErrorVersionMismatch`).
    case versionMismatch
    /// The response belongs to other sensitive data (`YTKRequestCacheErrorSensitiveDataMismatch`). The data is part of
    /// the key, so the usual result is ``notStored``; this case occurs only if a record was put under the key by other
    /// means.
    case sensitiveDataMismatch
    /// Another version of the program stored the response (`YTKRequestCacheErrorAppVersionMismatch`).
    case applicationVersionMismatch
    /// The request is not cached: its policy is ``CachePolicy/off``, or its method or body does not allow caching
    /// (`YTKRequestCacheErrorInvalidCacheTime`).
    case notCached
    /// No response is stored, or the store could not read it (`YTKRequestCacheErrorInvalidMetadata`).
    case notStored
    /// The stored responses belong to requests with other header fields (`Vary`).
    case varies
    /// A response is stored, but the command cannot use it: validation or decoding failed, or it has another shape
    /// (`YTKRequestCacheErrorInvalidCacheData`).
    case unusable
}

extension CacheMiss: CustomStringConvertible {
    /// One lower-case sentence.
    public var description: String {
        switch self {
        case .expired: "the stored response has expired"
        case .versionMismatch: "the response was stored with another version"
        case .sensitiveDataMismatch: "the response was stored for other sensitive data"
        case .applicationVersionMismatch: "the response was stored by another version of the program"
        case .notCached: "the request is not cached"
        case .notStored: "no response is stored"
        case .varies: "the stored responses belong to requests with other header fields"
        case .unusable: "the stored response cannot be used"
        }
    }
}

extension ErrandError {
    /// A request that reads only the cache (``CacheReading/cacheOnly``) found no response; ``cacheMissReason`` gives
    /// the reason. Nothing was sent.
    public static let cacheMiss = ErrandError(.cacheMiss)

    /// Why there was no stored response; `nil` for errors of another kind.
    public var cacheMissReason: CacheMiss? {
        code == .cacheMiss ? underlyingError as? CacheMiss : nil
    }

    package static func cacheMiss(_ reason: CacheMiss) -> ErrandError {
        .cacheMiss.with(message: reason.description, underlying: reason, isRefusal: true)
    }
}
