import Synchronization

/// The endpoints of one base URL in a client: the set, and when its list is asked for again.
final class EndpointGroup: Sendable {
    private struct State: ~Copyable {
        /// When the source is asked again.
        var due = Duration.zero
        var isRefreshing = false
        /// Whether the set has a list: before, requests go to the base URL.
        var isLoaded: Bool
    }

    /// Where a list comes from that changes.
    private struct Refresh: Sendable {
        let every: Duration
        let fetch: @Sendable () async throws -> [Endpoint]
    }

    let settings: ServiceEndpoints
    let set: EndpointSet
    private let refresh: Refresh?
    private let stopwatch: Stopwatch
    private let state: Mutex<State>
    private let failures = Atomic<Int>(0)
    private let connection: ConnectionOptions
    /// The settings of transfers by those that they were made of, and by address.
    private let bound = Mutex<[BoundKey: BoundSettings]>([:])

    private struct BoundKey: Hashable {
        let settings: ObjectIdentifier
        let address: String
    }

    private struct BoundSettings: Sendable {
        /// Kept, so that the identity in the key stays that of this object.
        let original: TransferSettings
        let bound: TransferSettings
    }

    /// The table is emptied beyond this many values.
    private static let boundCapacity = 512

    /// `connection`: the options of transfers without options of their own.
    init(_ settings: ServiceEndpoints, stopwatch: Stopwatch, connection: ConnectionOptions) {
        self.connection = connection
        self.settings = settings
        self.stopwatch = stopwatch
        let initial: [Endpoint]
        switch settings.source.kind {
        case .list(let endpoints):
            initial = endpoints
            refresh = nil
        case .closure(let first, let every, let fetch):
            initial = first
            refresh = Refresh(every: every, fetch: fetch)
        case .dns(let every):
            initial = []
            let (host, port) = (settings.host, settings.port)
            refresh = Refresh(every: every) {
                try await HostAddresses.look(up: host, port: port).map { try Endpoint(address: $0) }
            }
        }
        set = EndpointSet(initial, policy: settings.policy, clock: stopwatch.clock)
        state = Mutex(State(isLoaded: refresh == nil || !initial.isEmpty))
    }

    /// The look-ups that failed.
    var failedRefreshes: Int { failures.load(ordering: .relaxed) }

    /// Whether there is a list. Asks the source where that is due.
    func isReady() -> Bool {
        guard let refresh else { return true }
        let now = stopwatch.now()
        let (isLoaded, isDue) = state.withLock { state -> (Bool, Bool) in
            guard !state.isRefreshing, now >= state.due else { return (state.isLoaded, false) }
            state.isRefreshing = true
            return (state.isLoaded, true)
        }
        // Detached: the list is that of all requests, and must not be fetched within the deadline of this one.
        if isDue { Task.detached { [weak self] in await self?.ask(refresh) } }
        return isLoaded
    }

    private func ask(_ refresh: Refresh) async {
        let list = try? await refresh.fetch()
        if let list { set.replace(list) } else { failures.wrappingAdd(1, ordering: .relaxed) }
        let now = stopwatch.now()
        state.withLock { state in
            state.isRefreshing = false
            state.due = now.clampedTime(plus: refresh.every)
            if list != nil { state.isLoaded = true }
        }
    }

    /// The same settings, with connections that go to `address` (CURLOPT_RESOLVE). Options with different addresses have
    /// connections of their own.
    func settings(_ original: TransferSettings, to address: String) -> TransferSettings {
        let key = BoundKey(settings: ObjectIdentifier(original), address: address)
        if let known = bound.withLock({ $0[key] }) { return known.bound }
        let name = "\(settings.host):\(settings.port):"
        let entry = name + (address.contains(":") ? "[\(address)]" : address)
        let made = original.with(resolving: entry, of: name, clientDefault: connection)
        bound.withLock { table in
            if table.count >= Self.boundCapacity { table.removeAll() }
            table[key] = BoundSettings(original: original, bound: made)
        }
        return made
    }

    func key(of description: RequestDescription) -> String? {
        guard case .ringHash = settings.policy.balancing else { return nil }
        return settings.key?(description) ?? (settings.key == nil ? String(URLReference(description.url).path) : nil)
    }
}
