import Errand
import ErrandLifecycle
import ErrandTesting
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

/// A client that ends with its group.
@Suite(.timeLimit(.minutes(20))) struct ClientServiceTests {
    private struct GetText: Command {
        var path = "text"
        typealias Response = String
    }

    private let stub = StubTransport()
    private let clock = ManualClock()
    private let client: Client

    init() {
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.clock = clock
        client = Client(configuration: configuration, transport: stub)
    }

    /// A request that waits for its answer.
    private func held() async throws -> Request<GetText> {
        let request = client.start(GetText())
        try await waitUntil("a transfer is open") { !stub.open.isEmpty }
        return request
    }

    /// Runs a service, triggers the graceful shutdown, and calls `body` with the service's task when the client drains.
    /// Returns when the service has returned.
    private func drained(
        within time: Duration = .seconds(30), _ body: (Task<Void, any Error>) async throws -> Void
    ) async throws {
        try await testGracefulShutdown { trigger in
            let service = ClientService(client, drainTime: time)
            let running = Task { try await service.run() }
            trigger.triggerGracefulShutdown()
            try await waitUntil("the client drains") { client.isShutDown }
            try await body(running)
            try await running.value
        }
    }

    @Test func runningRequestsMayEnd() async throws {
        let request = try await held()
        try await drained { _ in
            #expect(request.state == .running)
            await #expect(throws: ErrandError.shutDown) { try await client.run(GetText()) }
            stub.completeAll { _ in .response(Response(statusCode: 200)) }
        }
        #expect(request.state == .succeeded)
    }

    @Test func theTimeOfTheDrainEnds() async throws {
        let request = try await held()
        try await drained(within: .seconds(5)) { _ in
            await clock.sleepers(1)
            clock.advance(by: .milliseconds(4999))
            #expect(request.state == .running)
            clock.advance(by: .milliseconds(1))
        }
        #expect(request.error == .shutDown)
    }

    @Test func aCancellationEndsTheDrain() async throws {
        let request = try await held()
        try await drained { running in
            #expect(request.state == .running)
            running.cancel()
        }
        #expect(request.error == .shutDown)
    }

    /// As in a group of which another service has failed.
    @Test(arguments: [false, true]) func aCancellationEndsAtOnce(isEarly: Bool) async throws {
        let request = try await held()
        let service = ClientService(client)
        let running = Task { try await service.run() }
        if !isEarly { await allowTime(for: "a service that returns early") }
        #expect(request.state == .running && !client.isShutDown)
        running.cancel()
        // No error: a group that cancels its services expects that they return.
        try await running.value
        #expect(request.error == .shutDown && client.isShutDown)
    }

    /// The server drains with requests of its own, for which it needs the client.
    @Test func theClientEndsAfterItsUsers() async throws {
        final class Flag: Sendable {
            private let isOn = Atomic(false)
            func set() { isOn.store(true, ordering: .relaxed) }
            var isSet: Bool { isOn.load(ordering: .relaxed) }
        }
        struct Server: Service {
            let client: Client
            let isStarted = Flag()

            func run() async throws {
                isStarted.set()
                try await gracefulShutdown()
                #expect(try await client.run(GetText()) == "last")
            }
        }
        let stub = StubTransport { _ in .response(status: 200, body: "last") }
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: stub)
        let server = Server(client: client)
        let group = ServiceGroup(
            services: [ClientService(client), server], logger: Logger(label: "errand.tests"))
        let running = Task { try await group.run() }
        try await waitUntil("the server runs") { server.isStarted.isSet }
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(client.isShutDown && stub.submitted.count == 1)
    }

    /// Two parts of a program shut down the same client.
    @Test func aClientThatIsShutDownElsewhere() async throws {
        await client.shutdown()
        try await drained { _ in }
        #expect(client.isShutDown)
    }
}
