import Synchronization

/// Data that the transfers of one run keep for the end of the run.
package final class CacheRun: Sendable {
    let cache: ResponseCache
    private let state = Mutex(State())

    private struct State {
        var source = CacheSource.network
        var timed: TimedEntry?
        /// Timed policy: the first request of the run.
        var first: First?
    }

    struct First: Sendable {
        let key: CacheKey
        let description: RequestDescription
    }

    init(_ cache: ResponseCache) { self.cache = cache }

    package var source: CacheSource { state.withLock { $0.source } }

    /// Called before a transfer's response is delivered. `timed`: the entry that the run may store.
    package func ended(_ source: CacheSource, timed: TimedEntry? = nil) {
        let replaced = state.withLock { state in
            let replaced = state.timed.take()
            state.source = source
            state.timed = timed
            return replaced
        }
        // Released here, not under the lock.
        _ = replaced
    }

    /// The key and the request under which the response is to be stored.
    func first(_ key: CacheKey, _ description: RequestDescription, isHop: Bool) -> First {
        // The plan is left out, because it refers to this object.
        var description = description
        description.cachePlan = nil
        let own = First(key: key, description: description)
        let (first, replaced) = state.withLock { state -> (First, First?) in
            if isHop, let first = state.first { return (first, nil) }
            let replaced = state.first.take()
            state.first = own
            return (own, replaced)
        }
        // Released here, not under the lock.
        _ = replaced
        return first
    }

    /// The run succeeded with `response`: stores the response from the network, unless an interceptor has answered
    /// instead. Each response is stored at most once.
    package func succeeded(with response: Response) {
        guard let entry = state.withLock({ $0.timed.take() }), entry.isOrigin(of: response) else { return }
        entry.store(in: cache)
    }

    package func failed() {
        let dropped = state.withLock { $0.timed.take() }
        _ = dropped
    }
}
