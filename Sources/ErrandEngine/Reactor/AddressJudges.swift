import Synchronization

/// The judges of addresses that commands have instead of the engine's filter. Any thread.
///
/// The filters that were used last are kept. A filter that was forgotten begins anew, with connections and counts of
/// its own. If commands take turns with more filters than are kept, each use of a filter begins anew. The objects of
/// all filters' options are in two tables together (``JudgedTables``).
final class AddressJudges: Sendable {
    private struct Own: Sendable {
        let judged: JudgedOptions
        /// The last filter of a command that was found to judge in the same way. It is kept alive, so no other object
        /// can have its address.
        var given: any AddressFilter
    }

    private struct State: Sendable {
        /// For commands that are not judged; made when it is first used.
        var unjudged: JudgedOptions?
        /// The filter that was used last is at the end.
        var own: [Own] = []
        /// The last filter of a command that was found to judge in the same way as the engine's.
        var engines: (any AddressFilter)?
    }

    /// The most filters that are kept.
    static let capacity = 64

    /// The engine's filter; `nil`: it has none.
    private let filter: (any AddressFilter)?
    private let connection: ConnectionOptions
    private let pause: Int
    private let state = Mutex(State())
    private let tables = JudgedTables()

    /// `connection`: the options of transfers that have none of their own. `pause`: see ``OptionsCache``.
    init(besides filter: (any AddressFilter)?, connection: ConnectionOptions, pause: Int) {
        self.filter = filter
        self.connection = connection
        self.pause = pause
    }

    /// What a command has instead of the engine's filter; `nil`: it has that filter, or one that judges in the same
    /// way.
    func judged(by choice: PartChoice<any AddressFilter>) -> JudgedOptions? {
        switch choice {
        case .client: return nil
        case .off: return filter == nil ? nil : unjudged
        case .own(let own):
            return judged(by: own)
        }
    }

    /// The filter that judges as `other`, with its counts; `nil`: no recent request had one.
    func filter(judgingAs other: any AddressFilter) -> (any AddressFilter)? {
        if let filter, filter.judges(as: other) { return filter }
        return state.withLock { $0.own.last { $0.judged.filter?.judges(as: other) ?? false } }?.judged.filter
    }

    private var unjudged: JudgedOptions {
        state.withLock { state in
            if let made = state.unjudged { return made }
            let made = JudgedOptions(nil, connection: connection, pause: pause, in: tables)
            state.unjudged = made
            return made
        }
    }

    private func judged(by own: any AddressFilter) -> JudgedOptions? {
        // What is forgotten is released after the lock.
        let (found, forgotten) = state.withLock { state -> (JudgedOptions?, Own?) in
            // Looks for the same object before equal rules: there may be many rules.
            if own.isSame(as: state.engines) { return (nil, nil) }
            var place = state.own.lastIndex { own.isSame(as: $0.given) }
            if place == nil, let filter, filter.judges(as: own) {
                state.engines = own
                return (nil, nil)
            }
            place = place ?? state.own.lastIndex { $0.judged.filter?.judges(as: own) ?? false }
            if let place {
                var found = state.own[place]
                found.given = own
                if place < state.own.count - 1 {
                    state.own.remove(at: place)
                    state.own.append(found)
                } else {
                    state.own[place] = found
                }
                return (found.judged, nil)
            }
            let made = JudgedOptions(own.forEngine(), connection: connection, pause: pause, in: tables)
            let forgotten = state.own.count < Self.capacity ? nil : state.own.removeFirst()
            state.own.append(Own(judged: made, given: own))
            return (made, forgotten)
        }
        _ = forgotten
        return found
    }

    /// See ``OptionsCache/lookSoon()``.
    func lookSoon() {
        tables.lookSoon()
    }
}

/// The engine's options for requests under one filter. They share no connections with requests under another one
/// (`needs_identity` in transfer/options.c).
final class JudgedOptions: Sendable {
    /// `nil`: every address is allowed.
    let filter: (any AddressFilter)?
    private let judge: ProxiedHostJudge?
    /// The options of transfers that have none of their own.
    private let connection: ConnectionOptions
    private let pause: Int
    private let tables: JudgedTables
    /// Tells the objects of this filter apart. An address could be that of another filter after the end of this one.
    private let number: UInt64

    init(_ filter: (any AddressFilter)?, connection: ConnectionOptions, pause: Int, in tables: JudgedTables) {
        self.filter = filter
        self.connection = connection
        self.pause = pause
        self.tables = tables
        number = tables.nextNumber
        judge = filter.map { ProxiedHostJudge(filter: $0, connection: connection) }
    }

    /// Checks the host that a proxy is asked for. Ownership as in ``OptionsCache/handle(for:)``.
    func handle(for description: RequestDescription) throws(ErrandError) -> OpaquePointer? {
        if let judge { try judge.check(description) }
        let options = description.settings.connection ?? connection
        let table = options.connectTo == nil ? tables.chosen : tables.alternatives
        let key = JudgedTables.Key(judge: number, options: options)
        if let known = table.slot(for: key) { return known.retained() }
        let made = try OptionsSlot(options, pause: pause, addresses: filter.map { PartChoice.own($0) } ?? .off)
        // Two threads may make the same value at once, as in `OptionsCache`.
        table.add(made, for: key)
        return made.retained()
    }
}

/// The engine's objects of options for all judged requests together, as many as ``OptionsCache`` has for the others.
final class JudgedTables: Sendable {
    struct Key: Hashable, Sendable {
        let judge: UInt64
        let options: ConnectionOptions
    }

    let chosen = OptionsTable<Key>(capacity: OptionsCache.capacity)
    /// As in ``OptionsCache``.
    let alternatives = OptionsTable<Key>(capacity: OptionsCache.capacity)
    private let last = Atomic<UInt64>(0)

    /// The number of the next filter.
    var nextNumber: UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }

    /// See ``OptionsCache/lookSoon()``.
    func lookSoon() {
        for slot in chosen.slots + alternatives.slots { slot.lookSoon() }
    }
}
