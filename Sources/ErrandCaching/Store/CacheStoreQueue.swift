import Dispatch
import Synchronization

/// A cache's access to its store: callers do not wait for the store, and its errors go only to the log.
///
/// A store that answers at once is called on the caller's thread. Any other store is called on one queue of this
/// object, one call at a time. Reads see pending writes and removals as if they were already done. If a write fails,
/// the store's old record under the key is removed if possible. Pending work continues after the last reference to this
/// object is gone, but not after the process ends. ``flush()`` waits for the pending work.
package final class CacheStoreQueue: Sendable {
    private let store: any CacheStore
    /// `nil` for a store that answers at once.
    private let waiting: Waiting?
    private let log: @Sendable (CacheHealth) -> Void
    private let reported: Mutex<Reported>

    private final class Waiting: Sendable {
        let backlog: Mutex<CacheStoreBacklog>
        let queue = DispatchQueue(label: "errand.cache")

        init(_ backlog: CacheStoreBacklog) {
            self.backlog = Mutex(backlog)
        }
    }

    private struct Reported {
        var health: CacheHealth
        /// An error that the store's health did not report.
        var error: CacheStoreError?
    }

    /// - Parameters:
    ///   - store: The store. Other objects may call it as well.
    ///   - bytesAtMost: If pending records exceed this size, a new record is dropped, and the store's record is
    ///     removed.
    ///   - keysAtMost: If pending changes exceed this number, they are dropped, and all records in their namespaces
    ///     are removed.
    ///   - log: Called when the store's health changes, and once for an error that its health does not report. It is
    ///     called on the thread that had the error, and under no lock.
    init(
        _ store: any CacheStore, bytesAtMost: Int = 16 << 20, keysAtMost: Int = 1 << 16,
        log: @escaping @Sendable (CacheHealth) -> Void
    ) {
        self.store = store
        self.log = log
        waiting =
            store.answersAtOnce ? nil : Waiting(CacheStoreBacklog(bytesAtMost: bytesAtMost, keysAtMost: keysAtMost))
        reported = Mutex(Reported(health: .working))
    }

    /// Calls `then` with the record of that key: inline if the record is known without waiting (a pending change, or a
    /// store that has it in memory), otherwise on the queue's own thread. There `then` must not block for long.
    func read(_ key: CacheKey, _ then: @escaping @Sendable (CacheRecord?) -> Void) {
        switch readAtOnce(key) {
        case .known(let record): then(record)
        case .later: readLater(key, then)
        }
    }

    enum AtOnce: Sendable {
        case known(CacheRecord?)
        /// Unknown: call ``readLater(_:_:)``.
        case later
    }

    /// What is known about that key without waiting.
    func readAtOnce(_ key: CacheKey) -> AtOnce {
        guard let waiting else { return .known(find(key)) }
        switch waiting.backlog.withLock({ $0.known(key) }) {
        case .record(let record): return .known(record)
        case .nothing: return .known(nil)
        case .asStored: return store.readAtOnce(key).map { .known($0) } ?? .later
        case .later: return .later
        }
    }

    /// The read to use after ``readAtOnce(_:)`` returned `later`.
    func readLater(_ key: CacheKey, _ then: @escaping @Sendable (CacheRecord?) -> Void) {
        guard let waiting else { return then(find(key)) }
        enqueue(on: waiting) { $0.read(CacheStoreBacklog.Read(key: key, then: then)) }
    }

    /// Replaces the record of that key with the result of `change`; if the result is `nil`, the record stays. Returns
    /// at once; later reads of the key see the update. `change` runs inline for a store that answers at once, otherwise
    /// on the queue's own thread. With a store that answers at once, another thread may write between the read and the
    /// write.
    func update(_ key: CacheKey, _ change: @escaping @Sendable (CacheRecord?) -> CacheRecord?) {
        guard let waiting else {
            if let record = change(find(key)) { write(record, for: key) }
            return
        }
        enqueue(on: waiting) { backlog in
            backlog.read(
                CacheStoreBacklog.Read(key: key, isUpdate: true) { record in
                    let record = change(record)
                    waiting.backlog.withLock { $0.updated(key, to: record) }
                })
        }
    }

    /// The result of a write, as far as it is known without waiting for the store.
    enum Written {
        /// The record is stored, or will be.
        case stored
        /// The store has been failing, but the write will be tried. The failure is no reason to remove the record.
        case tried
        /// Neither the record nor an older one is stored under the key.
        case refused
    }

    /// Whether the store accepts writes, according to its last operation.
    var isWorking: Bool { reported.withLock { $0.health.condition == .working } }

    /// Replaces the record of that key. Returns at once.
    @discardableResult
    func write(_ record: CacheRecord, for key: CacheKey) -> Written {
        guard let waiting else {
            var isStored = false
            _ = change(key, .write(record), isMade: &isStored)
            return isStored ? .stored : .refused
        }
        let size = record.byteCount
        guard store.accepts(byteCount: size) else {
            remove(key)
            return .refused
        }
        var isTaken = false
        enqueue(on: waiting) { backlog in
            isTaken = backlog.hasRoom(for: size, of: key)
            return backlog.write(record, for: key)
        }
        guard isTaken else { return .refused }
        return isWorking ? .stored : .tried
    }

    /// Removes the record of that key. Returns at once.
    func remove(_ key: CacheKey) {
        guard let waiting else { return _ = change(key, .removal) }
        enqueue(on: waiting) { $0.remove(key) }
    }

    /// Calls `body` with the store after all pending work. Later work waits for `body`. Cancelling the task has no
    /// effect. Throws the error of `body`.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (any CacheStore) throws(CacheStoreError) -> Value
    ) async throws(CacheStoreError) -> Value {
        guard let waiting else { return try outcome(body).get() }
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Outcome<Value>, Never>) in
            enqueue(on: waiting) { backlog in
                backlog.barrier(
                    .body {
                        let result = self.outcome(body)
                        return { continuation.resume(returning: result) }
                    })
            }
        }
        return try result.get()
    }

    /// Like ``perform(_:)``, but does not wait: later reads run after `body`.
    func barrier(_ body: @escaping @Sendable (any CacheStore) throws(CacheStoreError) -> Void) {
        guard let waiting else { return _ = outcome(body) }
        enqueue(on: waiting) { backlog in
            backlog.barrier(
                .body {
                    _ = self.outcome(body)
                    return {}
                })
        }
    }

    /// Returns when all pending work is done.
    func flush() async {
        _ = try? await perform { _ in }
    }

    /// Like ``flush()``, with a time limit. `then` runs once; inline if no change is pending.
    package func flush(atMost time: Duration, by stopwatch: Stopwatch, _ then: @escaping @Sendable () -> Void) {
        guard let waiting, waiting.backlog.withLock({ $0.hasChanges }) else { return then() }
        let once = OnceCalled(then)
        let timer = Task {
            guard (try? await stopwatch.sleep(for: time)) != nil else { return }
            once.call()
        }
        enqueue(on: waiting) { backlog in
            backlog.barrier(
                .body {
                    {
                        timer.cancel()
                        once.call()
                    }
                })
        }
    }

    private final class OnceCalled: Sendable {
        private let isCalled = Atomic<Bool>(false)
        private let then: @Sendable () -> Void

        init(_ then: @escaping @Sendable () -> Void) { self.then = then }

        func call() {
            if !isCalled.exchange(true, ordering: .acquiringAndReleasing) { then() }
        }
    }

    // MARK: - On the queue, or on the caller's thread for a store that answers at once

    private typealias Outcome<Value> = Result<Value, CacheStoreError>

    private func enqueue(on waiting: Waiting, _ body: (inout CacheStoreBacklog) -> Bool) {
        guard waiting.backlog.withLock({ body(&$0) }) else { return }
        // Keeps this object alive until nothing is pending.
        waiting.queue.async { self.drain(waiting) }
    }

    private func drain(_ waiting: Waiting) {
        while let work = waiting.backlog.withLock({ $0.next() }) {
            switch work {
            case .reads(let reads):
                for read in reads {
                    // Checked for each read, not once for all: a read's callback may change the result of the next
                    // read.
                    switch waiting.backlog.withLock({ $0.knownFirst(read.key) }) {
                    case .record(let record): read.then(record)
                    case .nothing: read.then(nil)
                    case .asStored, .later: read.then(find(read.key))
                    }
                }
            case .change(let key, let change):
                let ending = self.change(key, change)
                waiting.backlog.withLock { $0.changeEnded(ending) }
            case .barrier(.body(let body)):
                let end = body()
                waiting.backlog.withLock { $0.barrierEnded() }
                end()
            case .barrier(.clear(let namespaces)):
                for namespace in namespaces {
                    _ = outcome { (store) throws(CacheStoreError) in try store.removeAll(namespace: namespace) }
                }
                waiting.backlog.withLock { $0.barrierEnded() }
            }
        }
    }

    private func find(_ key: CacheKey) -> CacheRecord? {
        do throws(CacheStoreError) {
            let record = try store.read(key)
            // A successful read from a store in memory cannot change its health.
            if waiting != nil { notice(nil) }
            return record
        } catch {
            notice(error)
            return nil
        }
    }

    private func change(_ key: CacheKey, _ change: CacheStoreBacklog.Change) -> CacheStoreBacklog.Ending {
        var isMade = false
        return self.change(key, change, isMade: &isMade)
    }

    private func change(
        _ key: CacheKey, _ change: CacheStoreBacklog.Change, isMade: inout Bool
    ) -> CacheStoreBacklog.Ending {
        do throws(CacheStoreError) {
            switch change {
            case .write(let record): try store.write(record, for: key)
            case .removal: try store.remove(key)
            }
            isMade = true
            notice(nil)
            return .done
        } catch {
            notice(error)
            // After this error, the store has removed the old record.
            return error == .recordTooLarge ? .done : .failed
        }
    }

    private func outcome<Value>(
        _ body: (any CacheStore) throws(CacheStoreError) -> Value
    ) -> Outcome<Value> {
        do throws(CacheStoreError) {
            let value = try body(store)
            notice(nil)
            return .success(value)
        } catch {
            notice(error)
            return .failure(error)
        }
    }

    private func notice(_ error: CacheStoreError?) {
        let health = store.health
        let news = reported.withLock { reported -> CacheHealth? in
            if health != reported.health {
                reported = Reported(health: health)
                return health
            }
            guard let error, error != .recordTooLarge, error != reported.error, error != health.reason else {
                return nil
            }
            reported.error = error
            return CacheHealth(health.condition, reason: error, repairs: health.repairs)
        }
        if let news { log(news) }
    }
}
