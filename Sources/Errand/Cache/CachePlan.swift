/// What a request's run has to do with the cache; travels with what it sends.
struct CachePlan: Sendable {
    let box: CachePolicy.Box
    let run: CacheRun
    var reading: CacheReading
    /// What a redirect led to.
    var isHop = false
    /// What was stored has been told, or could not be used.
    var isSecond = false
    /// When it was sent, in milliseconds since 1970, and after which removal of what it may store
    /// (``CacheChanges/lastRemoval(of:)``); for who joins the transfer.
    var sent: (at: Int64, after: UInt64) = (0, 0)

    init(_ box: CachePolicy.Box, reading: CacheReading?, in cache: ResponseCache) {
        self.box = box
        self.reading = reading ?? box.members.reading
        run = CacheRun(cache)
    }

    var cache: ResponseCache { run.cache }
    var members: CachePolicy.Members { box.members }

    /// What the cache had nothing to do with.
    func marked(_ result: TransferResult, _ forward: CacheStatus.Forward, isCollapsed: Bool) -> TransferResult {
        guard case .response(let response) = result else { return result }
        var status = CacheStatus(cache: cache.name, forward: forward)
        status.isCollapsed = isCollapsed
        return .response(response.marked(CacheInfo(isServed: false, status)))
    }
}
