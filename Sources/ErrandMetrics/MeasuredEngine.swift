import Errand
import Synchronization

/// An engine whose statistics go to a backend. Several clients may use the engine (`SharedEngine`), each with a
/// ``ClientMetrics`` of its own. The statistics are recorded once, in the series of one of these clients: the client
/// that came first, until it ends, and then the next one. A call of ``ClientMetrics/collect()`` for any of the clients
/// records the statistics, because a program may have stopped collecting for the first client. Any thread.
final class MeasuredEngine: Sendable {
    private struct Key: Hashable, Sendable {
        let engine: ObjectIdentifier
        let backend: BackendIdentity
    }

    private struct Entry {
        weak var engine: MeasuredEngine?
    }

    /// A client of the engine.
    private struct User: Sendable {
        /// Identifies the user. One ``ClientMetrics`` may serve several clients in turn.
        let number: UInt64
        weak let client: Client?
        /// The instruments of the client's ``ClientMetrics``.
        let instruments: EngineMetrics

        /// Whether the client was shut down or released. A client that drains still has requests.
        var hasEnded: Bool { client?.isStopping ?? true }
    }

    private struct State: Sendable {
        /// The oldest first. Only the first one has meters.
        var users: [User] = []
        var nextNumber: UInt64 = 0
        /// The totals that were recorded last. They are kept here, so that the next client continues where the one
        /// before it has ended.
        var last = EngineStatistics()
    }

    /// The engines of living ``ClientMetrics``.
    private static let registry = Mutex<[Key: Entry]>([:])

    /// `nil`: the object is not in the registry.
    private let key: Key?
    /// Not kept: the last reference to an engine stops it. `nil`: there is no engine, or it is gone.
    private weak let reactor: ReactorTransport?
    /// The lock is held while statistics are read and the backend is called: otherwise growth could be counted twice,
    /// and a call could set a meter that another call has closed. No client is released under the lock, because its
    /// ``ClientMetrics`` may be released with it, and takes the lock then.
    private let state = Mutex(State())

    private init(_ key: Key?, _ reactor: ReactorTransport?) {
        self.key = key
        self.reactor = reactor
    }

    /// The object for the client's engine and this backend. A client without an engine, such as one on a stub, gets an
    /// object of its own.
    static func of(_ client: Client, _ backend: BackendIdentity) -> MeasuredEngine {
        guard let reactor = client.reactor else { return MeasuredEngine(nil, nil) }
        let key = Key(engine: ObjectIdentifier(reactor), backend: backend)
        let (former, present) = registry.withLock { registry -> (MeasuredEngine?, MeasuredEngine) in
            let former = registry[key]?.engine
            // The identifier may be that of an earlier engine, which is gone.
            if let former, former.reactor === reactor { return (former, former) }
            let made = MeasuredEngine(key, reactor)
            registry[key] = Entry(engine: made)
            return (former, made)
        }
        // Not released under the lock, because `deinit` takes the lock.
        withExtendedLifetime(former) {}
        return present
    }

    deinit {
        guard let key else { return }
        // The key may belong to a younger object already. That object is returned, so that it is not released, and
        // perhaps destroyed, under the lock.
        let younger = Self.registry.withLock { registry -> MeasuredEngine? in
            let engine = registry[key]?.engine
            if engine == nil { registry[key] = nil }
            return engine
        }
        withExtendedLifetime(younger) {}
    }

    /// A client with these instruments was made. What the engine has counted while no client had metrics does not
    /// belong to this client.
    func enter(_ client: Client, _ instruments: EngineMetrics) {
        state.withLock { state in
            if state.users.isEmpty { state.last = client.engineStatistics ?? EngineStatistics() }
            state.users.append(User(number: state.nextNumber, client: client, instruments: instruments))
            state.nextNumber += 1
        }
    }

    /// Records the present statistics. If the client that has the series has ended, the next one that lives gets them.
    ///
    /// - Parameter leaver: The instruments of a user that leaves, whatever its client does.
    func collect(without leaver: EngineMetrics? = nil) {
        // Clients are asked, and held, outside of the lock. A client that has ended stays so.
        let users = state.withLock { $0.users }
        let ended = users.prefix { $0.instruments === leaver || $0.hasEnded }.map(\.number)
        let reactor = reactor
        state.withLock { state in
            guard let former = state.users.first?.instruments else { return }
            let statistics = reactor?.statistics
            // Even if this client has ended: the growth up to now goes to its counters, and all later growth to those
            // of the next client.
            former.collect(statistics, since: &state.last)
            state.users.removeAll { user in
                user.instruments === leaver || ended.contains(user.number)
            }
            let present = state.users.first?.instruments
            // Before the former meters are closed: if the backend returns the same handlers for clients with equal
            // names, these handlers stay.
            present?.set(statistics)
            if former !== present { former.close() }
        }
        // Not released under the lock: the last reference stops the engine.
        withExtendedLifetime(reactor) {}
    }
}
