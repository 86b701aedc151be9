import Configuration
import Errand
import ErrandConfiguration
import ErrandLifecycle
import ErrandMetrics
import ErrandTesting
import Logging
import ServiceLifecycle
import Synchronization
import Testing
import UnixSignals

/// The code of the guide "In a service" for groups of services and their configuration; GuideTests compares it line by
/// line.
@Suite(.timeLimit(.minutes(20))) struct LifecycleSnippets {
    static func run(_ client: Client, _ server: some Service, _ logger: Logger) async throws {
        let group = ServiceGroup(
            services: [ClientService(client, drainTime: .seconds(10)), server],
            gracefulShutdownSignals: [.sigterm], logger: logger)
        try await group.run()
    }

    static func makeClient() throws -> Client {
        let reader = ConfigReader(providers: [
            EnvironmentVariablesProvider(), InMemoryProvider(values: ["http.users.timeouts.total": "2s"]),
        ]).scoped(to: "http.users")
        let client = Client(configuration: try Client.Configuration(reader: reader))
        return client
    }

    static func check(_ reader: ConfigReader, _ defaults: Client.Configuration) {
        do throws(ConfigurationError) {
            _ = try Client.Configuration(reader: reader, over: defaults)
        } catch {
            for problem in error.problems { print("\(problem.key.name): \(problem.reason)") }
        }
    }

    static func mistyped(in environment: [String: String]) -> [String] {
        let mistyped = ConfigurationKey.unknown(amongVariables: environment.keys, inScope: "http.users")
        return mistyped
    }

    static func follow(
        _ reader: ConfigReader, _ defaults: Client.Configuration, _ logger: Logger
    ) throws -> (Client, ClosureService) {
        let snapshot = reader.snapshot()
        let client = Client(configuration: try Client.Configuration(snapshot: snapshot, over: defaults))
        let follower = ClosureService {
            try await cancelWhenGracefulShutdown {
                try await client.follow(reader, from: snapshot, over: defaults) { reload in
                    logger.notice("the configuration has changed", metadata: ["reload": "\(reload)"])
                }
            }
        }
        return (client, follower)
    }

    /// The service of the guide "Seeing what the client does".
    @Test func aServiceThatCollectsEndsWithItsGroup() async throws {
        let metrics = ClientMetrics()
        var configuration = Client.Configuration(loops: 1)
        configuration.metrics = metrics
        let client = Client(configuration: configuration)
        let hasBegun = Atomic(false)
        let collecting = ClosureService {
            hasBegun.store(true, ordering: .relaxed)
            await cancelWhenGracefulShutdown { await metrics.run() }
        }
        let group = ServiceGroup(
            services: [ClientService(client), collecting], logger: Logger(label: "errand.tests"))
        let running = Task { try await group.run() }
        try await waitUntil("the service runs") { hasBegun.load(ordering: .relaxed) }
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(client.isShutDown)
    }

    @Test func theyRun() async throws {
        let client = try Self.makeClient()
        #expect(client.settings.timeouts.total == .seconds(2))
        await client.shutdown()
        #expect(Self.mistyped(in: ["HTTP_USERS_BASEURL": "", "HTTP_USERS_BASE_URL": ""]) == ["HTTP_USERS_BASEURL"])
    }

    /// A group of the two services: the follower applies a change, and both end with the group.
    @Test func aGroupThatFollows() async throws {
        let provider = MutableInMemoryProvider(initialValues: ["languages": "de"])
        let reader = ConfigReader(provider: provider)
        let logger = Logger(label: "errand.tests")
        let (client, follower) = try Self.follow(reader, Client.Configuration(loops: 1), logger)
        let group = ServiceGroup(services: [ClientService(client), follower], logger: logger)
        let running = Task { try await group.run() }
        provider.setValue("fr", forKey: "languages")
        try await waitUntil("the change is applied") { client.settings.languages == ["fr"] }
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(client.isShutDown)
    }
}
