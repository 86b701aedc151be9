package import HTTPTypes

/// What a cache had to do with a response.
package protocol CacheInfo: Sendable {
    /// Whether the response was stored before the request was made.
    var isServed: Bool { get }
    /// Whether the response is stored now.
    var isStored: Bool { get }
    /// The `Cache-Status` field (RFC 9211) of the response, behind `fields` of caches nearer to the server.
    func cacheStatus(behind fields: String?) -> String
}

extension Response {
    /// What the client's cache did, as a `Cache-Status` field says it (RFC 9211), behind what caches nearer to the server
    /// wrote there: `errand; hit; ttl=376`. `nil` where the request was not cached (``CachePolicy/off``).
    public var cacheStatus: String? {
        storage.cacheInfo.map { $0.cacheStatus(behind: header(.cacheStatus)) }
    }

    /// Whether it was stored before the request was made; false for one that the server has just confirmed (304).
    public var isFromCache: Bool { storage.cacheInfo?.isServed ?? false }

    package func marked(_ info: any CacheInfo) -> Response {
        var response = Response(storage: MarkedResponseStorage(storage, info))
        response.decoder = decoder
        return response
    }
}

extension HTTPField.Name {
    /// HTTPTypes does not know the name.
    package static let cacheStatus = Self("Cache-Status") ?? .cacheControl
}
