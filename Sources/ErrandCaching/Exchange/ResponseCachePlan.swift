/// The cache plan of a request's run. Each description that the run sends carries it. The plan has at most three words,
/// see ``CachePlan``.
package struct ResponseCachePlan: CachePlan {
    let box: CachePolicy.Box
    package let run: CacheRun
    package var reading: CacheReading
    /// Whether this is a request that a redirect led to.
    package var isHop = false
    /// Whether the stored value was delivered, or could not be used.
    var isSecond = false
    /// How many seconds after its expiry a stored response is still accepted. 0: not at all; the maximum: without
    /// limit. Used only with ``CacheReading/cacheOnly``. Milliseconds would not fit: see ``CachePlan``.
    private(set) var staleSeconds: UInt32 = 0

    package var source: CacheSource { run.source }

    package init(_ box: CachePolicy.Box, reading: CacheReading?, in cache: ResponseCache) {
        self.box = box
        self.reading = reading ?? box.members.reading
        run = CacheRun(cache)
    }

    var cache: ResponseCache { run.cache }
    package var members: CachePolicy.Members { box.members }

    package func asksNetwork(after error: ErrandError?) -> Bool {
        guard !isSecond, source == .stored else { return false }
        let isOutOfTime = error == .timeoutTotal || error == .deadlineExceeded
        if isOutOfTime || error == .cancelled || error == .shutDown { return false }
        switch reading {
        case .cacheThenNetwork: return true
        // A stored error page is the server's own answer, and is used for as long as the server allowed.
        case .cacheElseNetwork where error == .statusNotAccepted: return members.isTimed
        case .cacheElseNetwork: return error != nil
        case .cacheOnly, .networkOnly, .networkElseCache: return false
        }
    }

    package mutating func readStale(atMost time: Duration?) {
        reading = .cacheOnly
        // This is a separate lookup, even after a stored response was delivered or could not be used.
        isHop = false
        isSecond = false
        guard let time else {
            staleSeconds = .max
            return
        }
        // Rounded up.
        let seconds = time > .zero ? max(1, (time.cacheMilliseconds + 999) / 1000) : 0
        staleSeconds = UInt32(clamping: seconds)
    }

    /// Whether a stored response that expired this many milliseconds ago is accepted.
    func takesStale(expiredFor time: Int64) -> Bool {
        guard reading == .cacheOnly, staleSeconds > 0 else { return false }
        return staleSeconds == .max || time <= Int64(staleSeconds) * 1000
    }

    package mutating func networkIsNext() {
        run.ended(.network)
        isSecond = true
    }

    package func runEnded(with response: Response?) {
        if let response { run.succeeded(with: response) } else { run.failed() }
    }

    /// The result with a `Cache-Status` for a request that the cache did not handle.
    func marked(_ result: TransferResult, _ forward: CacheStatus.Forward, isCollapsed: Bool) -> TransferResult {
        guard case .response(let response) = result else { return result }
        var status = CacheStatus(cache: cache.name, forward: forward)
        status.isCollapsed = isCollapsed
        return .response(response.marked(HTTPCacheInfo(isServed: false, status)))
    }
}

extension RequestDescription {
    /// The plan of this cache; `nil` if the request is not cached.
    var responseCachePlan: ResponseCachePlan? { cachePlan as? ResponseCachePlan }
}
