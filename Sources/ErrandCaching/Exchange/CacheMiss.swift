/// Why a cache has no response for a request that wanted one and nothing else. It is ``ErrandError/cacheMissReason``'s reason.
///
/// YTKNetwork: `YTKRequestCacheErrorDomain`.
public enum CacheMiss: String, Error, Sendable, Hashable, CaseIterable {
    /// It has expired, or it must not be used without asking the server (`YTKRequestCacheErrorExpired`).
    case expired
    /// It was stored with another version (`YTKRequestCacheErrorVersionMismatch`).
    case versionMismatch
    /// It is another's (`YTKRequestCacheErrorSensitiveDataMismatch`). As the data is part of the key this is ``notStored``,
    /// but for a record that somebody else put under the key.
    case sensitiveDataMismatch
    /// Another version of the program stored it (`YTKRequestCacheErrorAppVersionMismatch`).
    case applicationVersionMismatch
    /// The request is not cached: its policy is ``CachePolicy/off``, its method or its body do not allow it
    /// (`YTKRequestCacheErrorInvalidCacheTime`).
    case notCached
    /// Nothing is stored, or the store could not read it (`YTKRequestCacheErrorInvalidMetadata`).
    case notStored
    /// What is stored answers requests with other header fields (`Vary`).
    case varies
    /// It is stored, but the command cannot use it: not accepted, not decoded, not of its shape
    /// (`YTKRequestCacheErrorInvalidCacheData`).
    case unusable
}

extension CacheMiss: CustomStringConvertible {
    /// One lower-case sentence.
    public var description: String {
        switch self {
        case .expired: "what is stored has expired"
        case .versionMismatch: "what is stored is of another version"
        case .sensitiveDataMismatch: "what is stored is another's"
        case .applicationVersionMismatch: "what is stored is of another version of the program"
        case .notCached: "the request is not cached"
        case .notStored: "nothing is stored"
        case .varies: "what is stored answers other header fields"
        case .unusable: "what is stored cannot be used"
        }
    }
}

extension ErrandError {
    /// A request for stored responses alone (``CacheReading/cacheOnly``) found none; ``cacheMissReason`` tells why. Nothing
    /// was sent.
    public static let cacheMiss = ErrandError(.cacheMiss)

    /// Why there was no stored response; `nil` for errors of another kind.
    public var cacheMissReason: CacheMiss? {
        code == .cacheMiss ? underlyingError as? CacheMiss : nil
    }

    package static func cacheMiss(_ reason: CacheMiss) -> ErrandError {
        .cacheMiss.with(message: reason.description, underlying: reason, isRefusal: true)
    }
}
