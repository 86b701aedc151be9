/// This cache's information about a response.
final class HTTPCacheInfo: CacheInfo {
    let isServed: Bool
    let status: CacheStatus

    init(isServed: Bool, _ status: CacheStatus) {
        self.isServed = isServed
        self.status = status
    }

    var isStored: Bool { status.isStored }

    func cacheStatus(behind fields: String?) -> String { status.appended(to: fields) }
}
