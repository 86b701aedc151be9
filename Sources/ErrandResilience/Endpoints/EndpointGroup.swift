import Synchronization

/// The endpoints of one base URL in a client: the set, and the time when the source is asked for a new list.
final class EndpointGroup: Sendable {
    private enum Phase: Equatable {
        /// The source is asked again when it is due.
        case resting
        /// The source is being asked. The number counts the questions.
        case asking(Int)
        /// The set gets the list.
        case replacing
    }

    private struct State: ~Copyable {
        var phase = Phase.resting
        /// When the source is asked again.
        var due = Duration.zero
        /// How often the source was asked.
        var asked = 0
        /// Whether the set has a list: before, requests go to the base URL.
        var isLoaded: Bool
    }

    /// A source whose list changes.
    private struct Refresh: Sendable {
        let every: Duration
        let timeout: Duration
        let fetch: @Sendable () async throws -> [Endpoint]
    }

    let settings: ServiceEndpoints
    let set: EndpointSet
    private let refresh: Refresh?
    private let stopwatch: Stopwatch
    private let state: Mutex<State>
    /// Whether several clients may use the group.
    private let isShared: Bool
    /// The options that transfers use, by the options that they were made from and by the address. The settings as a
    /// whole are not the key: with a deadline each attempt has its own settings, but there are few different options.
    private let bound = Mutex<[BoundKey: ConnectionOptions]>([:])

    private struct BoundKey: Hashable {
        /// `nil`: the options of the only client.
        let options: ConnectionOptions?
        let address: String
    }

    /// The table is emptied beyond this many values.
    private static let boundCapacity = 512

    init(_ settings: ServiceEndpoints, stopwatch: Stopwatch, isShared: Bool = false) {
        self.isShared = isShared
        self.settings = settings
        self.stopwatch = stopwatch
        let initial: [Endpoint]
        switch settings.source.kind {
        case .list(let endpoints):
            initial = endpoints
            refresh = nil
        case .closure(let first, let every, let timeout, let fetch):
            initial = first
            refresh = Refresh(every: every, timeout: timeout, fetch: fetch)
        case .dns(let every, let timeout, let lookUp):
            initial = []
            let (host, port) = (settings.host, settings.port)
            refresh = Refresh(every: every, timeout: timeout) {
                try await lookUp(host, port).map { try Endpoint(address: $0) }
            }
        }
        set = EndpointSet(initial, policy: settings.policy, clock: stopwatch.clock)
        state = Mutex(State(isLoaded: refresh == nil || !initial.isEmpty))
    }

    /// Whether there is a list. Asks the source where that is due.
    func isReady() -> Bool {
        guard let refresh else { return true }
        let now = stopwatch.now()
        let (isLoaded, number) = state.withLock { state -> (Bool, Int?) in
            guard state.phase == .resting, now >= state.due else { return (state.isLoaded, nil) }
            state.asked += 1
            state.phase = .asking(state.asked)
            return (state.isLoaded, state.asked)
        }
        if let number { ask(refresh, number) }
        return isLoaded
    }

    /// Asks the source. A source that ignores the cancellation of its task goes on, and nothing waits for it.
    private func ask(_ refresh: Refresh, _ number: Int) {
        // Detached: the list is that of all requests, and must not be fetched within the deadline of this one.
        let fetch = Task.detached { try await refresh.fetch() }
        let timer = Task.detached { [weak self, stopwatch = self.stopwatch] in
            guard (try? await stopwatch.sleep(for: refresh.timeout)) != nil else { return }
            // First, so that what the source returns when it is cancelled is ignored.
            self?.refreshed(refresh, number, nil)
            fetch.cancel()
        }
        Task.detached { [weak self] in
            let list = try? await fetch.value
            timer.cancel()
            self?.refreshed(refresh, number, list)
        }
    }

    /// The source has answered the question of this number. `list` is `nil` if the source failed or its time is over.
    /// Later answers are ignored.
    private func refreshed(_ refresh: Refresh, _ number: Int, _ list: [Endpoint]?) {
        let isFirst = state.withLock { state -> Bool in
            guard state.phase == .asking(number) else { return false }
            // The source is not asked again until the set has the list, so an older list does not replace a newer one.
            state.phase = .replacing
            return true
        }
        guard isFirst else { return }
        if let list { set.refresh(list) }
        let now = stopwatch.now()
        state.withLock { state in
            state.phase = .resting
            state.due = now.clampedTime(plus: refresh.every)
            if list != nil { state.isLoaded = true }
        }
        // Counted last, so that a reader who sees the count also sees when the source is asked again.
        if list == nil { set.refreshFailed() }
    }

    /// The same settings, with connections that go to `address` (CURLOPT_RESOLVE). Options with different addresses do
    /// not share connections. `connection`: the client's options, for transfers without options of their own.
    func settings(
        _ original: TransferSettings, to address: String, clientDefault connection: ConnectionOptions
    ) -> TransferSettings {
        let options = original.connection ?? (isShared ? connection : nil)
        let key = BoundKey(options: options, address: address)
        if let known = bound.withLock({ $0[key] }) {
            return original.with(connection: known, requiresTLS: original.requiresTLS)
        }
        let name = "\(settings.host):\(settings.port):"
        let entry = name + (address.contains(":") ? "[\(address)]" : address)
        let made = original.with(resolving: entry, of: name, clientDefault: connection)
        bound.withLock { table in
            if table.count >= Self.boundCapacity { table.removeAll() }
            table[key] = made.connection
        }
        return made
    }

    /// The options that are kept.
    var boundCount: Int { bound.withLock { $0.count } }

    func key(of description: RequestDescription) -> String? {
        guard case .ringHash = settings.policy.balancing else { return nil }
        return settings.key?(description) ?? (settings.key == nil ? String(URLReference(description.url).path) : nil)
    }
}
