package import HTTPTypes

/// How a cache took part in a response. One object for each response: ``Response/replacing(body:headers:)`` keeps the
/// object, so it shows from which response another one was made.
package protocol CacheInfo: AnyObject, Sendable {
    /// Whether the response was stored before the request was made.
    var isServed: Bool { get }
    /// Whether the response is stored now.
    var isStored: Bool { get }
    /// The action of the cache, as text with few values, fit for a metric label: `hit`, `stale-hit`, `revalidated`,
    /// `stand-in`, or why the request was forwarded (RFC 9211 2.2), such as `uri-miss`.
    var label: String { get }
    /// The `Cache-Status` field (RFC 9211) of the response; `fields` of caches nearer to the server come first.
    func cacheStatus(behind fields: String?) -> String
}

extension Response {
    /// The result of the client's cache as a `Cache-Status` field (RFC 9211): `errand; hit; ttl=376`. Entries of caches
    /// nearer to the server come first. `nil` if the request was not cached (``CachePolicy/off``).
    public var cacheStatus: String? {
        storage.cacheInfo.map { $0.cacheStatus(behind: header(.cacheStatus)) }
    }

    /// Whether the response was stored before the request was made; false for a response that the server has just
    /// revalidated (304).
    public var isFromCache: Bool { storage.cacheInfo?.isServed ?? false }

    package func marked(_ info: any CacheInfo) -> Response {
        var response = Response(storage: MarkedResponseStorage(storage, info))
        response.decoder = decoder
        return response
    }
}

extension HTTPField.Name {
    /// The `Cache-Status` field, which HTTPTypes does not define.
    package static let cacheStatus = Self("Cache-Status") ?? .cacheControl
}
