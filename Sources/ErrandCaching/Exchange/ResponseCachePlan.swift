/// What a request's run has to do with the cache; travels with what it sends.
package struct ResponseCachePlan: CachePlan {
    let box: CachePolicy.Box
    package let run: CacheRun
    package var reading: CacheReading
    /// What a redirect led to.
    package var isHop = false
    /// What was stored has been told, or could not be used.
    package var isSecond = false
    /// When it was sent, in milliseconds since 1970, and after which removal of what it may store
    /// (``CacheChanges/lastRemoval(of:)``); for who joins the transfer.
    package var sent: (at: Int64, after: UInt64) = (0, 0)

    package var source: CacheSource { run.source }
    package var isTimed: Bool { members.isTimed }

    package init(_ box: CachePolicy.Box, reading: CacheReading?, in cache: ResponseCache) {
        self.box = box
        self.reading = reading ?? box.members.reading
        run = CacheRun(cache)
    }

    var cache: ResponseCache { run.cache }
    package var members: CachePolicy.Members { box.members }

    package mutating func networkIsNext() {
        run.ended(.network)
        isSecond = true
    }

    package func runEnded(succeeded: Bool) {
        if succeeded { run.succeeded() } else { run.failed() }
    }

    /// What the cache had nothing to do with.
    func marked(_ result: TransferResult, _ forward: CacheStatus.Forward, isCollapsed: Bool) -> TransferResult {
        guard case .response(let response) = result else { return result }
        var status = CacheStatus(cache: cache.name, forward: forward)
        status.isCollapsed = isCollapsed
        return .response(response.marked(HTTPCacheInfo(isServed: false, status)))
    }
}

extension RequestDescription {
    /// The plan of this cache; `nil` where the request is not cached.
    var responseCachePlan: ResponseCachePlan? { cachePlan as? ResponseCachePlan }
}
