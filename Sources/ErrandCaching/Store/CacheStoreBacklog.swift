/// The pending operations of a store that may block. A value type: it calls no other object and takes no lock.
///
/// If there are several changes to one key, only the last counts. It takes the position at which it arrived. Reads go
/// before changes: at most one change is done before the next check for reads. An operation that must run after all
/// pending operations (a *barrier*) divides the list into *stretches*. No operation moves from one stretch to another.
struct CacheStoreBacklog: Sendable {
    enum Change: Sendable, Equatable {
        case write(CacheRecord)
        case removal
    }

    /// What is known about a key without a call to the store.
    enum Known: Sendable, Equatable {
        case record(CacheRecord)
        case nothing
        /// No pending operation affects the key: the store's record is current.
        case asStored
        /// A barrier or an update of the key has to run first, and its effect is not known yet.
        case later
    }

    struct Read: Sendable {
        let key: CacheKey
        /// Whether the result replaces the record (``updated(_:to:)``). Later reads of the key wait for the update.
        var isUpdate = false
        let then: @Sendable (CacheRecord?) -> Void
    }

    enum Barrier: Sendable {
        /// The returned closure runs once later reads no longer wait for the barrier.
        case body(@Sendable () -> @Sendable () -> Void)
        /// Replaces changes beyond the limit: removes all records in these namespaces.
        case clear(Set<String>)
    }

    enum Work: Sendable {
        /// Reads, in this order. Changes that one of them causes are visible (``knownFirst(_:)``) to the next.
        case reads([Read])
        /// The caller then calls ``changeEnded(_:)``.
        case change(CacheKey, Change)
        /// The caller then calls ``barrierEnded()``.
        case barrier(Barrier)
    }

    enum Ending: Sendable {
        case done
        /// The store's record of the key is outdated.
        case failed
    }

    private struct Waiting {
        var change: Change
        var bytes: Int
        /// Distinguishes this change from other changes of its key.
        var ticket: UInt64
        /// How often the change is retried after a failure.
        var retries: Int
    }

    private struct Stretch {
        var reads: [Read] = []
        var changes: [CacheKey: Waiting] = [:]
        /// The order of all changes. Tickets of replaced changes remain in it for a while.
        var order: [(key: CacheKey, ticket: UInt64)] = []
        var nextInOrder = 0
        /// The barrier that ends the stretch; `nil` only for the last stretch.
        var barrier: Barrier?
    }

    /// The maximum size of all pending records, in bytes.
    let bytesAtMost: Int
    /// The maximum number of keys with a pending change. Removals cannot be dropped. Therefore, beyond this number, all
    /// records in the namespaces of these keys are removed.
    let keysAtMost: Int

    /// Never empty. The first stretch is being processed.
    private var stretches = [Stretch()]
    private var bytes = 0
    private var lastTicket: UInt64 = 0
    /// The running change, from the first stretch.
    private var running: (key: CacheKey, ticket: UInt64, bytes: Int)?
    private var isBarrierRunning = false
    private var isDraining = false
    private var wereReadsLast = false
    /// The pending and running updates of a key.
    private struct Updates {
        /// The value of ``lastTicket`` when each update came, in their order.
        var tickets: [UInt64] = []
        /// The last change of the key since then that is not from an update.
        var lastChange: UInt64 = 0
    }

    private var updates: [CacheKey: Updates] = [:]

    /// How often a removal is retried.
    private static let retries = 3

    init(bytesAtMost: Int, keysAtMost: Int) {
        self.bytesAtMost = bytesAtMost
        self.keysAtMost = max(1, keysAtMost)
    }

    // MARK: - Input: each returns whether a drain is to be started

    /// Beyond the limit, the record is dropped and the store's outdated record is removed.
    mutating func write(_ record: CacheRecord, for key: CacheKey) -> Bool {
        let size = record.byteCount
        guard hasRoom(for: size, of: key) else { return remove(key) }
        return add(.write(record), bytes: size, to: key)
    }

    func hasRoom(for size: Int, of key: CacheKey) -> Bool {
        bytes - replaceable(key) + size <= bytesAtMost
    }

    mutating func remove(_ key: CacheKey) -> Bool {
        add(.removal, bytes: 0, to: key)
    }

    mutating func read(_ read: Read) -> Bool {
        stretches[stretches.count - 1].reads.append(read)
        if read.isUpdate { updates[read.key, default: Updates()].tickets.append(lastTicket) }
        return startDraining()
    }

    /// Called right after a read that is an update, with its result; `nil`: no change. The change takes the position of
    /// the read: before the removals of later barriers, and before later changes of the key.
    mutating func updated(_ key: CacheKey, to record: CacheRecord?) {
        guard var waiting = updates[key], let ticket = waiting.tickets.first else { return }
        waiting.tickets.removeFirst()
        updates[key] = waiting.tickets.isEmpty ? nil : waiting
        guard let record, waiting.lastChange <= ticket else { return }
        let size = record.byteCount
        let hasRoom = bytes - replaceable(key, in: 0) + size <= bytesAtMost
        bytes -= replaceable(key, in: 0)
        // As in `write`: beyond the limit, the store's record is outdated.
        append(
            hasRoom ? .write(record) : .removal, bytes: hasRoom ? size : 0, to: key, retries: Self.retries, in: 0)
    }

    mutating func barrier(_ barrier: Barrier) -> Bool {
        stretches[stretches.count - 1].barrier = barrier
        stretches.append(Stretch())
        return startDraining()
    }

    /// The result for a read that begins now.
    func known(_ key: CacheKey) -> Known {
        updates.isEmpty || updates[key] == nil ? known(key, in: stretches.count - 1) : .later
    }

    /// The result for a read that ``next()`` has returned.
    func knownFirst(_ key: CacheKey) -> Known {
        known(key, in: 0)
    }

    private func known(_ key: CacheKey, in stretch: Int) -> Known {
        switch stretches[stretch].changes[key]?.change {
        case .write(let record): .record(record)
        case .removal: .nothing
        case nil: stretch == 0 ? .asStored : .later
        }
    }

    /// Whether changes are pending or running. Reads do not count.
    var hasChanges: Bool {
        running != nil || isBarrierRunning || stretches.count > 1 || !stretches[0].changes.isEmpty || !updates.isEmpty
    }

    // MARK: - Output

    /// The next work; `nil` if nothing is pending. The drain then ends.
    mutating func next() -> Work? {
        let reads = stretches[0].reads
        if !reads.isEmpty, !wereReadsLast || stretches[0].changes.isEmpty {
            stretches[0].reads = []
            wereReadsLast = true
            return .reads(reads)
        }
        wereReadsLast = false
        if let (key, waiting) = nextChange() {
            running = (key, waiting.ticket, waiting.bytes)
            return .change(key, waiting.change)
        }
        if let barrier = stretches[0].barrier {
            isBarrierRunning = true
            return .barrier(barrier)
        }
        isDraining = false
        return nil
    }

    mutating func changeEnded(_ ending: Ending) {
        guard let running else { return }
        self.running = nil
        bytes -= running.bytes
        guard let waiting = stretches[0].changes[running.key], waiting.ticket == running.ticket else { return }
        stretches[0].changes[running.key] = nil
        guard case .failed = ending, waiting.retries > 0 else { return }
        append(.removal, bytes: 0, to: running.key, retries: waiting.retries - 1, in: 0)
    }

    mutating func barrierEnded() {
        isBarrierRunning = false
        if stretches.count > 1 { stretches.removeFirst() }
    }

    // MARK: - Internal

    private mutating func startDraining() -> Bool {
        defer { isDraining = true }
        return !isDraining
    }

    private mutating func nextChange() -> (CacheKey, Waiting)? {
        while stretches[0].nextInOrder < stretches[0].order.count {
            let (key, ticket) = stretches[0].order[stretches[0].nextInOrder]
            stretches[0].nextInOrder += 1
            if let waiting = stretches[0].changes[key], waiting.ticket == ticket { return (key, waiting) }
        }
        stretches[0].order = []
        stretches[0].nextInOrder = 0
        return nil
    }

    /// The bytes that a new change of the key frees: 0 for a change that is running, which keeps its bytes until it
    /// ends.
    private func replaceable(_ key: CacheKey) -> Int {
        replaceable(key, in: stretches.count - 1)
    }

    private func replaceable(_ key: CacheKey, in stretch: Int) -> Int {
        guard let waiting = stretches[stretch].changes[key], waiting.ticket != running?.ticket else { return 0 }
        return waiting.bytes
    }

    private mutating func add(_ change: Change, bytes size: Int, to key: CacheKey) -> Bool {
        let last = stretches.count - 1
        if stretches[last].changes[key] == nil, stretches[last].changes.count >= keysAtMost {
            clear()
            return add(change, bytes: size, to: key)
        }
        bytes -= replaceable(key)
        append(change, bytes: size, to: key, retries: Self.retries, in: last)
        updates[key]?.lastChange = lastTicket
        return startDraining()
    }

    private mutating func append(
        _ change: Change, bytes size: Int, to key: CacheKey, retries: Int, in stretch: Int
    ) {
        lastTicket += 1
        bytes += size
        stretches[stretch].changes[key] = Waiting(change: change, bytes: size, ticket: lastTicket, retries: retries)
        stretches[stretch].order.append((key, lastTicket))
        // Repeated writes of one key must not fill the list.
        guard stretches[stretch].order.count > 64 + 2 * stretches[stretch].changes.count else { return }
        let kept = stretches[stretch]
        stretches[stretch].order = kept.order[kept.nextInOrder...].filter { kept.changes[$0.key]?.ticket == $0.ticket }
        stretches[stretch].nextInOrder = 0
    }

    /// Replaces the changes of the last stretch with one removal of everything.
    private mutating func clear() {
        let last = stretches.count - 1
        let dropped = stretches[last].changes
        for waiting in dropped.values where waiting.ticket != running?.ticket { bytes -= waiting.bytes }
        stretches[last].changes = [:]
        stretches[last].order = []
        stretches[last].nextInOrder = 0
        let namespaces = Set(dropped.keys.map(\.namespace))
        // A preceding clear that has not begun covers these changes too, as none of them was made.
        if last > 0, case .clear(let others) = stretches[last - 1].barrier, last > 1 || !isBarrierRunning {
            stretches[last - 1].barrier = .clear(others.union(namespaces))
        } else {
            stretches[last].barrier = .clear(namespaces)
            stretches.append(Stretch())
        }
    }
}
