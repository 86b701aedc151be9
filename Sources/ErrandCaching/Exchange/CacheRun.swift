import Synchronization

/// What the transfers of one run have left for its end.
package final class CacheRun: Sendable {
    let cache: ResponseCache
    private let state = Mutex(State())

    private struct State {
        var source = CacheSource.network
        var timed: TimedEntry?
        /// By time and version: what the run asked for first.
        var first: First?
    }

    struct First: Sendable {
        let key: CacheKey
        let description: RequestDescription
    }

    init(_ cache: ResponseCache) { self.cache = cache }

    package var source: CacheSource { state.withLock { $0.source } }

    /// A transfer's response is about to be handed over; `timed`: what the run may store of it.
    package func ended(_ source: CacheSource, timed: TimedEntry? = nil) {
        let replaced = state.withLock { state in
            let replaced = state.timed.take()
            state.source = source
            state.timed = timed
            return replaced
        }
        // Dies here, not under the lock.
        _ = replaced
    }

    /// What the response is to be stored under.
    func first(_ key: CacheKey, _ description: RequestDescription, isHop: Bool) -> First {
        // Without its plan, which has this object.
        var description = description
        description.cachePlan = nil
        let own = First(key: key, description: description)
        let (first, replaced) = state.withLock { state -> (First, First?) in
            if isHop, let first = state.first { return (first, nil) }
            let replaced = state.first.take()
            state.first = own
            return (own, replaced)
        }
        // Dies here, not under the lock.
        _ = replaced
        return first
    }

    /// The run succeeded: what it took from the network is stored. At most once for each response.
    package func succeeded() {
        guard let entry = state.withLock({ $0.timed.take() }) else { return }
        entry.store(in: cache)
    }

    package func failed() {
        let dropped = state.withLock { $0.timed.take() }
        _ = dropped
    }
}
