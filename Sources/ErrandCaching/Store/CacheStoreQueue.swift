import Dispatch
import Synchronization

/// A cache's way to its store: nobody waits for the store, and its errors reach nobody but the log.
///
/// A store that answers at once is called where the caller is. Any other is called on one queue of this object's own,
/// one call at a time; what was written or removed is what a later read finds, done or not. Where a write fails, what
/// the store had under the key is removed, as far as that can be done. What waits is done even where nobody holds this
/// object any more, but not beyond the end of the process: ``flush()`` waits for it.
package final class CacheStoreQueue: Sendable {
    private let store: any CacheStore
    /// `nil` for a store that answers at once.
    private let waiting: Waiting?
    private let log: @Sendable (CacheHealth) -> Void
    private let told: Mutex<Told>

    private final class Waiting: Sendable {
        let backlog: Mutex<CacheStoreBacklog>
        let queue = DispatchQueue(label: "errand.cache")

        init(_ backlog: CacheStoreBacklog) {
            self.backlog = Mutex(backlog)
        }
    }

    private struct Told {
        var health: CacheHealth
        /// An error that the store's health said nothing of.
        var error: CacheStoreError?
    }

    /// - Parameters:
    ///   - store: Called by this object alone, or by others as well.
    ///   - bytesAtMost: Beyond so many bytes of records that wait, a record is dropped, and what the store had is removed.
    ///   - keysAtMost: Beyond so many changes that wait, they are dropped, and all in their namespaces is removed.
    ///   - log: Told when the store's health changes, and of an error of which its health says nothing, once; on the
    ///     thread that met it, under no lock.
    init(
        _ store: any CacheStore, bytesAtMost: Int = 16 << 20, keysAtMost: Int = 1 << 16,
        log: @escaping @Sendable (CacheHealth) -> Void
    ) {
        self.store = store
        self.log = log
        waiting =
            store.answersAtOnce ? nil : Waiting(CacheStoreBacklog(bytesAtMost: bytesAtMost, keysAtMost: keysAtMost))
        told = Mutex(Told(health: .working))
    }

    /// Calls back with the record of that key: inline where it is known without waiting (a change that waits, a store
    /// that has it in memory), else on the queue's own thread, where nothing may block for long.
    func read(_ key: CacheKey, _ then: @escaping @Sendable (CacheRecord?) -> Void) {
        switch readAtOnce(key) {
        case .known(let record): then(record)
        case .later: readLater(key, then)
        }
    }

    enum AtOnce: Sendable {
        case known(CacheRecord?)
        /// ``readLater(_:_:)`` is to tell.
        case later
    }

    /// What is known of that key without waiting.
    func readAtOnce(_ key: CacheKey) -> AtOnce {
        guard let waiting else { return .known(find(key)) }
        switch waiting.backlog.withLock({ $0.known(key) }) {
        case .record(let record): return .known(record)
        case .nothing: return .known(nil)
        case .asStored: return store.readAtOnce(key).map { .known($0) } ?? .later
        case .later: return .later
        }
    }

    /// After ``readAtOnce(_:)`` knew nothing.
    func readLater(_ key: CacheKey, _ then: @escaping @Sendable (CacheRecord?) -> Void) {
        guard let waiting else { return then(find(key)) }
        enqueue(on: waiting) { $0.read(CacheStoreBacklog.Read(key: key, then: then)) }
    }

    /// Puts what `change` makes of that key's record in its place; `nil` leaves it. Returns at once; whoever reads the key from
    /// here on reads it after that. `change` runs inline for a store that answers at once, else on the queue's own thread.
    /// A store of the first kind may be written to by another thread in between.
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

    /// What becomes of a record that is to be written, as far as that can be said without waiting for the store.
    enum Written {
        /// It is there, or will be.
        case stored
        /// The store has not been well: it will be tried, and is not to be removed for that.
        case tried
        /// It is not there, nor what the key had.
        case refused
    }

    /// Whether writes are made, as far as the last one has told.
    var isWorking: Bool { told.withLock { $0.health.condition == .working } }

    /// Puts the record in the place of that key's. Returns at once.
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

    /// Removes that key's record. Returns at once.
    func remove(_ key: CacheKey) {
        guard let waiting else { return _ = change(key, .removal) }
        enqueue(on: waiting) { $0.remove(key) }
    }

    /// Calls `body` with the store after all that waits; what comes later waits for it. The task's cancellation changes
    /// nothing. Throws what `body` throws.
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

    /// As ``perform(_:)`` for who does not wait for it: what is read from here on is read after it.
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

    /// Returns when all that waited is done.
    func flush() async {
        _ = try? await perform { _ in }
    }

    /// As ``flush()``, for who waits no longer than that: `then` runs once, inline where no change waits.
    package func flush(atMost time: Duration, by stopwatch: Stopwatch, _ then: @escaping @Sendable () -> Void) {
        guard let waiting, waiting.backlog.withLock({ $0.hasChanges }) else { return then() }
        let tell = OnceTold(then)
        let timer = Task {
            guard (try? await stopwatch.sleep(for: time)) != nil else { return }
            tell.tell()
        }
        enqueue(on: waiting) { backlog in
            backlog.barrier(
                .body {
                    {
                        timer.cancel()
                        tell.tell()
                    }
                })
        }
    }

    private final class OnceTold: Sendable {
        private let isTold = Atomic<Bool>(false)
        private let then: @Sendable () -> Void

        init(_ then: @escaping @Sendable () -> Void) { self.then = then }

        func tell() {
            if !isTold.exchange(true, ordering: .acquiringAndReleasing) { then() }
        }
    }

    // MARK: - On the queue, or on the caller's thread for a store that answers at once

    private typealias Outcome<Value> = Result<Value, CacheStoreError>

    private func enqueue(on waiting: Waiting, _ body: (inout CacheStoreBacklog) -> Bool) {
        guard waiting.backlog.withLock({ body(&$0) }) else { return }
        // Holds this object until nothing waits.
        waiting.queue.async { self.drain(waiting) }
    }

    private func drain(_ waiting: Waiting) {
        while let work = waiting.backlog.withLock({ $0.next() }) {
            switch work {
            case .reads(let reads):
                for read in reads {
                    // Now, and not for all of them before the first: what that leads to is news to the next.
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
            // What a store in memory does well is no news.
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
            // Such a store has removed what it had.
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
        let news = told.withLock { told -> CacheHealth? in
            if health != told.health {
                told = Told(health: health)
                return health
            }
            guard let error, error != .recordTooLarge, error != told.error, error != health.reason else { return nil }
            told.error = error
            return CacheHealth(health.condition, reason: error, repairs: health.repairs)
        }
        if let news { log(news) }
    }
}
