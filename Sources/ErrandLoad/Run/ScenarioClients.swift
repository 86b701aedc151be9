import Errand
import Synchronization

/// The clients of a scenario, on one engine. Without cookies all users have the same client. With cookies each user has
/// a client whose requests pass through the user's own jar (``UserCookieTransport``). The jar of an engine belongs to
/// all its clients, and an engine for each user would cost threads and connections.
final class ScenarioClients: Sendable {
    /// The clients of one user.
    private struct Own: Sendable {
        let discarding: Client
        let reading: Client
        let jar: UserCookieJar
    }

    /// The clients for requests whose bodies are dropped, and for requests that read them. The same client if all
    /// requests read them.
    private let discarding: Client
    private let reading: Client
    /// The engine that clients with jars, or two clients, use together; `nil`: the client's own or a shared one.
    private let engine: (any Transport)?
    private let configuration: Client.Configuration
    private let hasJars: Bool
    /// Whether the first client drops bodies.
    private let discards: Bool
    private let own = Mutex<[Int: Own]>([:])

    /// `users`: the most users of the scenario.
    init(_ scenario: LoadScenario, users: Int) {
        var configuration = scenario.configuration
        configuration.callbackQueue = .serial(label: "errand.load")
        configuration.reportsStops = true
        var discards = false
        var reads = true
        var perUser = 8
        if case .requests(let requests) = scenario.work {
            // A cache would keep the empty bodies, and interceptors may read them.
            let isPlain = configuration.settings.cache.isOff && configuration.interceptors.isEmpty
            discards = isPlain && requests.contains { !$0.needsBody }
            reads = !discards || requests.contains { $0.needsBody }
            perUser = 1
        }
        if configuration.sharedEngine == nil {
            // There is room for hedges, because a hedge that waited for a place would only be sent when an attempt has
            // ended.
            let sends = 1 + (configuration.resilience?.hedge?.maxExtra ?? 0)
            let most = min(1 << 24, max(64, users) * perUser * sends)
            configuration.inFlightLimit = configuration.inFlightLimit ?? most
            configuration.originInFlightLimit = configuration.originInFlightLimit ?? most
            configuration.queueCapacity = configuration.queueCapacity ?? max(65_536, most)
        }
        // One budget, one set of breakers and one count for all users, who call the same service.
        if configuration.resilienceParts == nil, let resilience = configuration.resilience {
            configuration.resilienceParts = ResilienceParts(
                resilience, clock: configuration.clock, onBreakerTransition: configuration.onBreakerTransition)
        }
        self.discards = discards
        hasJars = configuration.cookies != .off
        configuration.cookies = .off
        self.configuration = configuration
        let needsEngine = configuration.sharedEngine == nil && (hasJars || (discards && reads))
        let engine = needsEngine ? configuration.makeEngine() : nil
        self.engine = engine
        let first = Self.client(configuration, discards: discards, on: engine)
        discarding = first
        reading = discards && reads ? Self.client(configuration, discards: false, on: engine) : first
    }

    private static func client(
        _ configuration: Client.Configuration, discards: Bool, on engine: (any Transport)?, jar: UserCookieJar? = nil
    ) -> Client {
        var configuration = configuration
        configuration.settings.options.insert(.countsHeads)
        if discards { configuration.settings.options.insert(.discardsBody) }
        if let jar { configuration.layers.append(UserCookieLayer(jar: jar)) }
        guard let engine else { return Client(configuration: configuration) }
        return Client(configuration: configuration, transport: engine)
    }

    /// The client that describes requests and has the engine's statistics.
    var main: Client { reading }

    /// The budgets, breakers and counts of all clients; `nil`: there is no resilience.
    var resilience: ResilienceParts? { main.resilience }

    /// The clients without the users' own.
    private var shared: [Client] { discarding === reading ? [discarding] : [discarding, reading] }

    /// The client for a request of a user. `isNewVisitor`: the user's cookies are dropped before.
    func client(of user: Int, needsBody: Bool, isNewVisitor: Bool) -> Client {
        guard hasJars else { return needsBody ? reading : discarding }
        let mine = clients(of: user)
        if isNewVisitor { mine.jar.removeAll() }
        return needsBody ? mine.reading : mine.discarding
    }

    /// The jar of a user; `nil`: the scenario has no cookies.
    func jar(of user: Int) -> UserCookieJar? { hasJars ? clients(of: user).jar : nil }

    private func clients(of user: Int) -> Own {
        own.withLock { list -> Own in
            if let present = list[user] { return present }
            let jar = UserCookieJar()
            let isApart = discarding !== reading
            let first = Self.client(configuration, discards: discards, on: engine, jar: jar)
            let second = isApart ? Self.client(configuration, discards: false, on: engine, jar: jar) : first
            let made = Own(discarding: first, reading: second, jar: jar)
            list[user] = made
            return made
        }
    }

    private var all: [Client] {
        let users = own.withLock { Array($0.values) }
        return shared + users.flatMap { $0.discarding === $0.reading ? [$0.discarding] : [$0.discarding, $0.reading] }
    }

    /// Cancels all requests. Does not wait for their ends.
    func cancel() {
        for client in all { client.shutdown(.cancel) {} }
    }

    /// Ends the clients and the engine. Returns when its threads have ended.
    func shutDown() async {
        for client in all { await client.shutdown(.cancel) }
        guard let engine else { return }
        await withCheckedContinuation { continuation in
            engine.shutdown { continuation.resume() }
        }
    }
}
