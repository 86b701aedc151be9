import Dispatch
import Errand
import ErrandTesting
import Synchronization

@testable import ErrandCaching

/// A store that blocks where a test wants it to, that fails when told to, and notes what it is asked. In memory.
final class HeldStore: CacheStore {
    enum Call: Equatable {
        case read(CacheKey)
        case write(CacheKey, Int64)
        case remove(CacheKey)
        case removeTag(String)
        case clear(String)
    }

    private struct State {
        var isHeld = false
        var isEntered = false
        var error: CacheStoreError?
        var health = CacheHealth.working
        var calls: [Call] = []
    }

    let records = MemoryCacheStore()
    /// What ``readAtOnce(_:)`` looks in.
    let upper = MemoryCacheStore()
    private let state = Mutex(State())
    private let released = DispatchSemaphore(value: 0)

    var calls: [Call] { state.withLock { $0.calls } }

    /// Has the next call block until ``release()``.
    func hold() {
        state.withLock { $0.isHeld = true }
    }

    /// Returns once a call blocks.
    func entered() async throws {
        try await waitUntil("a call of the store blocks") { state.withLock { $0.isEntered } }
    }

    /// Only after ``entered()``.
    func release() {
        state.withLock { state in
            state.isHeld = false
            state.isEntered = false
        }
        released.signal()
    }

    /// Fails all calls with that error; not reads, where the health is that reading goes on.
    func fail(_ error: CacheStoreError?, health: CacheHealth = .working) {
        state.withLock { state in
            state.error = error
            state.health = health
        }
    }

    private func note(_ call: Call) throws(CacheStoreError) {
        let (isHeld, error) = state.withLock { state in
            state.calls.append(call)
            state.isEntered = state.isHeld
            return (state.isHeld, state.error)
        }
        if isHeld { released.wait() }
        if let error { throw error }
    }

    func read(_ key: CacheKey) throws(CacheStoreError) -> CacheRecord? {
        do throws(CacheStoreError) {
            try note(.read(key))
        } catch {
            guard health.condition == .readingOnly else { throw error }
        }
        return records.read(key)
    }

    func write(_ record: CacheRecord, for key: CacheKey) throws(CacheStoreError) {
        try note(.write(key, record.version))
        try records.write(record, for: key)
    }

    func remove(_ key: CacheKey) throws(CacheStoreError) -> Bool {
        try note(.remove(key))
        return records.remove(key)
    }

    func remove(tag: String) throws(CacheStoreError) -> Int {
        try note(.removeTag(tag))
        return records.remove(tag: tag)
    }

    func remove(olderThan instant: Int64) throws(CacheStoreError) -> Int {
        records.remove(olderThan: instant)
    }

    func removeAll() throws(CacheStoreError) -> Int {
        records.removeAll()
    }

    func removeAll(namespace: String) throws(CacheStoreError) -> Int {
        try note(.clear(namespace))
        return records.removeAll(namespace: namespace)
    }

    func statistics() -> CacheStatistics { records.statistics() }

    var health: CacheHealth { state.withLock { $0.health } }

    var answersAtOnce: Bool { false }

    func accepts(byteCount: Int) -> Bool { true }

    func readAtOnce(_ key: CacheKey) -> CacheRecord? { upper.readAtOnce(key) }
}
