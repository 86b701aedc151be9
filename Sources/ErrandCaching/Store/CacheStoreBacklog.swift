/// What waits for a store that may block. A value: it calls nobody and takes no lock.
///
/// Of several changes to one key the last counts, and stands where it came. Reads go before changes, one of which at most is
/// done between two looks for reads; what has to come after all that waits (a *barrier*) divides the list in *stretches*,
/// and nothing moves from one to another.
struct CacheStoreBacklog: Sendable {
    enum Change: Sendable, Equatable {
        case write(CacheRecord)
        case removal
    }

    /// What can be said about a key without the store.
    enum Known: Sendable, Equatable {
        case record(CacheRecord)
        case nothing
        /// Nothing that waits touches it: it is as the store has it now.
        case asStored
        /// A barrier or an update of the key is to come first, of which nobody knows what it changes.
        case later
    }

    struct Read: Sendable {
        let key: CacheKey
        /// Whether what comes of it is written in the record's place (``updated(_:to:)``): nobody who comes later reads past it.
        var isUpdate = false
        let then: @Sendable (CacheRecord?) -> Void
    }

    enum Barrier: Sendable {
        /// What it returns runs once later reads need not wait for it any more.
        case body(@Sendable () -> @Sendable () -> Void)
        /// In place of more changes than may wait: removes all that is in these namespaces.
        case clear(Set<String>)
    }

    enum Work: Sendable {
        /// In this order: what one of them leads to is known (``knownFirst(_:)``) to the next.
        case reads([Read])
        /// To be followed by ``changeEnded(_:)``.
        case change(CacheKey, Change)
        /// To be followed by ``barrierEnded()``.
        case barrier(Barrier)
    }

    enum Ending: Sendable {
        case done
        /// What the key has in the store is not what it should have.
        case failed
    }

    private struct Waiting {
        var change: Change
        var bytes: Int
        /// Tells it from the others of its key.
        var ticket: UInt64
        /// How often it is tried again where it fails.
        var retries: Int
    }

    private struct Stretch {
        var reads: [Read] = []
        var changes: [CacheKey: Waiting] = [:]
        /// Of all changes; the tickets of those that others replaced are left in it for a while.
        var order: [(key: CacheKey, ticket: UInt64)] = []
        var nextInOrder = 0
        /// What ends it; `nil` for the last stretch alone.
        var barrier: Barrier?
    }

    /// Bytes of records that may wait.
    let bytesAtMost: Int
    /// Keys with a change that may wait; removals cannot be dropped, so beyond that all is removed.
    let keysAtMost: Int

    /// Never empty. The first is being worked on.
    private var stretches = [Stretch()]
    private var bytes = 0
    private var lastTicket: UInt64 = 0
    /// The change that is being done, of the first stretch.
    private var running: (key: CacheKey, ticket: UInt64, bytes: Int)?
    private var isBarrierRunning = false
    private var isDraining = false
    private var wereReadsLast = false
    /// The updates of a key that wait, or are being made.
    private struct Updates {
        /// ``lastTicket`` as each of them came, in their order.
        var tickets: [UInt64] = []
        /// The last change of the key that came since then and is no update's.
        var lastChange: UInt64 = 0
    }

    private var updates: [CacheKey: Updates] = [:]

    /// So often is a removal tried again.
    private static let retries = 3

    init(bytesAtMost: Int, keysAtMost: Int) {
        self.bytesAtMost = bytesAtMost
        self.keysAtMost = max(1, keysAtMost)
    }

    // MARK: - What comes in: each returns whether a drain is to be started

    /// Beyond the limit the record is dropped, and what the store has is removed, as it is out of date.
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

    /// What a read that is an update has led to, right after it. `nil`: nothing. It stands where the read stood: before what
    /// barriers that have come since then remove, and before changes of the key that have come since then.
    mutating func updated(_ key: CacheKey, to record: CacheRecord?) {
        guard var waiting = updates[key], let ticket = waiting.tickets.first else { return }
        waiting.tickets.removeFirst()
        updates[key] = waiting.tickets.isEmpty ? nil : waiting
        guard let record, waiting.lastChange <= ticket else { return }
        let size = record.byteCount
        let hasRoom = bytes - replaceable(key, in: 0) + size <= bytesAtMost
        bytes -= replaceable(key, in: 0)
        // As in `write`: beyond the limit what the store has is out of date.
        append(
            hasRoom ? .write(record) : .removal, bytes: hasRoom ? size : 0, to: key, retries: Self.retries, in: 0)
    }

    mutating func barrier(_ barrier: Barrier) -> Bool {
        stretches[stretches.count - 1].barrier = barrier
        stretches.append(Stretch())
        return startDraining()
    }

    /// What a read that begins now is to find.
    func known(_ key: CacheKey) -> Known {
        updates.isEmpty || updates[key] == nil ? known(key, in: stretches.count - 1) : .later
    }

    /// What a read that ``next()`` has answered is to find.
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

    /// Whether the store has not heard of all that is to change; reads do not count.
    var hasChanges: Bool {
        running != nil || isBarrierRunning || stretches.count > 1 || !stretches[0].changes.isEmpty || !updates.isEmpty
    }

    // MARK: - What goes out

    /// What is to be done next; `nil` where nothing waits, and the drain ends.
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

    // MARK: - Within

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

    /// The bytes that a new change of the key sets free: none of one that is being written, which stays until it is.
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
        // One key written over and over must not fill it.
        guard stretches[stretch].order.count > 64 + 2 * stretches[stretch].changes.count else { return }
        let kept = stretches[stretch]
        stretches[stretch].order = kept.order[kept.nextInOrder...].filter { kept.changes[$0.key]?.ticket == $0.ticket }
        stretches[stretch].nextInOrder = 0
    }

    /// Puts one removal of everything in the place of the changes of the last stretch.
    private mutating func clear() {
        let last = stretches.count - 1
        let dropped = stretches[last].changes
        for waiting in dropped.values where waiting.ticket != running?.ticket { bytes -= waiting.bytes }
        stretches[last].changes = [:]
        stretches[last].order = []
        stretches[last].nextInOrder = 0
        let namespaces = Set(dropped.keys.map(\.namespace))
        // One that has not begun does it for these changes as well: none of them was made.
        if last > 0, case .clear(let others) = stretches[last - 1].barrier, last > 1 || !isBarrierRunning {
            stretches[last - 1].barrier = .clear(others.union(namespaces))
        } else {
            stretches[last].barrier = .clear(namespaces)
            stretches.append(Stretch())
        }
    }
}
