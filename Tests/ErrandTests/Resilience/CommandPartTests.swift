import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandEngine
@testable import ErrandModel
@testable import ErrandResilience

/// Budgets, headers of deadlines, endpoints, HSTS and alternative services that commands choose: the client's, their
/// own, or none.
@Suite struct CommandPartTests {
    private struct Get: Command {
        var path: String
        var resilience: RequestResilience?
        typealias Response = Errand.Response
        var acceptedStatusCodes: StatusCodes { .any }
    }

    private static let quick = RetryPolicy(backoff: RetryBackoff(base: .zero))

    /// Runs a command, and returns where its attempts went.
    private static func places(
        _ client: Client, _ stub: StubTransport, _ path: String, _ resilience: RequestResilience? = nil
    ) async throws -> [String] {
        let before = stub.submitted.count
        _ = try await client.run(Get(path: path, resilience: resilience))
        return stub.submitted[before...].map(\.url)
    }

    // MARK: Budgets

    /// The first send of a request, and what its budget allows. The clock stands still, so no token comes back.
    @Test func budgets() async throws {
        let stub = StubTransport { _ in .response(status: 503) }
        let nothing = RetryBudget.Policy(ratio: 0, floorPerSecond: 0)
        let client = Client.stubbed(stub) {
            $0.resilience = Resilience(retry: Self.quick, budget: nothing)
            $0.clock = ManualClock()
        }
        func sends(_ own: RequestResilience?, _ path: String = "a") async throws -> Int {
            try await Self.places(client, stub, path, own).count
        }
        #expect(try await sends(nil) == 1)
        #expect(try await sends(.init(budget: .unlimited)) == 3)
        #expect(try await sends(nil) == 1)
        // One token, which the requests with the name and an equal policy share, to whatever origin.
        let one = RetryBudget.Policy(ratio: 0, floorPerSecond: 0.1)
        #expect(try await sends(.init(budget: one, name: "shared")) == 2)
        let equal = RetryBudget.Policy(ratio: 0, floorPerSecond: 0.1)
        #expect(try await sends(.init(budget: equal, name: "shared"), "http://b/") == 1)
        // Another name, no name, and another policy.
        #expect(try await sends(.init(budget: one, name: "other")) == 2)
        #expect(try await sends(.init(budget: one)) == 2)
        let two = RetryBudget.Policy(ratio: 0, floorPerSecond: 0.2)
        #expect(try await sends(.init(budget: two, name: "shared")) == 3)
        // A policy that equals the client's is the client's.
        #expect(try await sends(.init(budget: nothing)) == 1)
        let parts = try #require(client.resilience)
        #expect(parts.retryBudgets(with: nothing) === parts.budgets)
        #expect(parts.retryBudgets(with: one).budget(for: "shared").counts.withdrawals == 1)
        #expect(parts.retryBudgets(with: one).budget(for: "shared").counts.refusals == 2)
        // The client's, by origin; `one` by two names and an origin; `two` by a name.
        #expect(parts.allBudgets.count == 5)
        await client.shutdown()
    }

    /// A command has a budget where the client has none.
    @Test func aBudgetOfTheCommandAlone() async throws {
        let stub = StubTransport { _ in .response(status: 503) }
        let client = Client.stubbed(stub) {
            $0.resilience = Resilience(retry: Self.quick, budget: nil)
            $0.clock = ManualClock()
        }
        let own = RequestResilience(budget: RetryBudget.Policy(ratio: 0, floorPerSecond: 0.1))
        #expect(try await Self.places(client, stub, "a", own).count == 2)
        #expect(try await Self.places(client, stub, "a", own).count == 1)
        #expect(try await Self.places(client, stub, "a").count == 3)
        await client.shutdown()
    }

    // MARK: The header of the deadline

    @Test(arguments: [DeadlineHeader.requestTimeout, .never, nil] as [DeadlineHeader?])
    func theHeaderOfTheDeadline(client: DeadlineHeader?) throws {
        let fixture = ResilientFixture(Resilience(deadlineHeader: client))
        let (usual, other) = (
            "X-Request-Timeout" as HTTPField.Name, "X-Time" as HTTPField.Name
        )
        func sent(_ own: DeadlineHeader?) throws -> [String?] {
            var description = try ResilientFixture.description(total: .seconds(3))
            description.resilience = RequestResilience(deadlineHeader: own)
            _ = try fixture.submit(description)
            let headers = try #require(fixture.stub.submitted.last?.headers)
            try fixture.answer(200)
            return [headers[usual], headers[other]]
        }
        #expect(try sent(nil) == [client == .requestTimeout ? "3000" : nil, nil])
        #expect(try sent(.milliseconds(other)) == [nil, "3000"])
        #expect(try sent(.never) == [nil, nil])
        #expect(fixture.isEmpty())
    }

    // MARK: Endpoints

    private static func servers(_ urls: String..., of base: String = "http://test/") throws -> ServiceEndpoints {
        let list = try urls.map { url throws(ErrandError) in try Endpoint(url) }
        return try ServiceEndpoints(of: base, .list(list), policy: EndpointPolicy(.roundRobin))
    }

    @Test func endpointsOfTheCommand() async throws {
        let stub = StubTransport { .response(status: $0.url.hasPrefix("http://bad") ? 503 : 200) }
        let client = Client.stubbed(stub) { $0.resilience = Resilience(retry: Self.quick) }
        let own = CommandEndpoints(try Self.servers("http://bad", "http://good"))
        let resilience = RequestResilience(endpoints: .own(own))
        // The retry goes to another one than the attempt before.
        #expect(try await Self.places(client, stub, "x", resilience) == ["http://bad:80/x", "http://good:80/x"])
        #expect(try await Self.places(client, stub, "x") == ["http://test/x"])
        #expect(try await Self.places(client, stub, "http://b/x", resilience) == ["http://b/x"])
        #expect(own.set.counts.picks == 2 && own.set.statuses.map(\.pending) == [0, 0])
        #expect(own.origin == "http://test:80")
        await client.shutdown()
    }

    /// The client's setting is enough for the command's, and another client goes on where the first one was.
    @Test func endpointsOfClientAndCommand() async throws {
        let stub = StubTransport { _ in .response(status: 200) }
        let servers = try Self.servers("http://usual")
        let own = RequestResilience(endpoints: .own(CommandEndpoints(try Self.servers("http://one", "http://two"))))
        for turn in ["http://one:80/x", "http://two:80/x"] {
            let client = Client.stubbed(stub) { $0.endpoints = [servers] }
            #expect(try await Self.places(client, stub, "x") == ["http://usual:80/x"])
            #expect(try await Self.places(client, stub, "x", own) == [turn])
            #expect(try await Self.places(client, stub, "x", .init(endpoints: .off)) == ["http://test/x"])
            #expect(try await Self.places(client, stub, "x", .off) == ["http://usual:80/x"])
            await client.shutdown()
        }
    }

    /// Each client connects to an address of shared endpoints by its own options.
    @Test func addressesOfSharedEndpoints() async throws {
        let stub = StubTransport { _ in .response(status: 200) }
        let service = try ServiceEndpoints(of: "http://test/", .list([try Endpoint(address: "10.0.0.1")]))
        let own = RequestResilience(endpoints: .own(CommandEndpoints(service)))
        for name in ["one", "other"] {
            let client = Client.stubbed(stub) {
                $0.resilience = Resilience()
                $0.connection = ConnectionOptions(localInterface: name)
            }
            #expect(try await Self.places(client, stub, "x", own) == ["http://test/x"])
            let sent = try #require(stub.submitted.last?.settings.connection)
            #expect(sent.resolveOverrides == ["test:80:10.0.0.1"] && sent.localInterface?.value == name)
            await client.shutdown()
        }
    }

    // MARK: HSTS

    private static let policy: HTTPFields = [.strictTransportSecurity: "max-age=31536000"]

    /// In every client, without any setting of its own.
    @Test func hstsOfTheCommand() async throws {
        let stub = StubTransport { _ in .response(status: 200, headers: Self.policy) }
        let client = Client.stubbed(stub)
        let store = HSTSStore(preloads: [.init("test")])
        let own = RequestResilience(hsts: .own(store))
        #expect(try await Self.places(client, stub, "x", own) == ["https://test/x"])
        #expect(try await Self.places(client, stub, "x") == ["http://test/x"])
        #expect(store.counts.upgrades == 1)
        var overrides = RequestOverrides()
        overrides.resilience = own
        #expect(try client.describe(Get(path: "y"), overrides: overrides).url == "https://test/y")
        await client.shutdown()
    }

    /// Responses teach the store of the command, and no other.
    @Test func whatResponsesTeach() async throws {
        let stub = StubTransport { _ in .response(status: 200, headers: Self.policy) }
        let (clients, own) = (HSTSStore(preloads: [.init("test")]), HSTSStore())
        let client = Client.stubbed(stub) {
            $0.resilience = Resilience()
            $0.hsts = clients
        }
        let bare = Client.stubbed(stub) { $0.resilience = Resilience() }
        for client in [client, bare] {
            _ = try await Self.places(client, stub, "https://learned/", .init(hsts: .own(own)))
            #expect(own.isKnown("learned") && !clients.isKnown("learned"))
            own.forgetAll()
            _ = try await Self.places(client, stub, "https://learned/", .init(hsts: .off))
            #expect(!own.isKnown("learned") && !clients.isKnown("learned"))
        }
        #expect(try await Self.places(client, stub, "x", .init(hsts: .off)) == ["http://test/x"])
        #expect(try await Self.places(client, stub, "x", .init(hsts: .own(own))) == ["http://test/x"])
        #expect(try await Self.places(client, stub, "x", .off) == ["https://test/x"])
        for client in [client, bare] { await client.shutdown() }
    }

    /// A redirect is followed by the store of the command.
    @Test func redirectsByTheStoreOfTheCommand() async throws {
        let stub = StubTransport { description in
            guard description.url == "https://start/" else { return .response(status: 200) }
            return .response(status: 302, headers: [.location: "http://test/end"])
        }
        let client = Client.stubbed(stub)
        let own = RequestResilience(hsts: .own(HSTSStore(preloads: [.init("test")])))
        #expect(try await Self.places(client, stub, "https://start/", own) == ["https://start/", "https://test/end"])
        // A downgrade without it.
        await #expect(throws: ErrandError.self) { try await Self.places(client, stub, "https://start/") }
        await client.shutdown()
    }

    // MARK: Alternative services

    @Test func alternativesOfTheCommand() async throws {
        let altSvc: HTTPField.Name = "Alt-Svc"
        let stub = StubTransport { _ in .response(status: 200, headers: [altSvc: "http%2F1.1=\"new.test:444\""]) }
        func cache(_ place: String) -> AltServiceCache {
            let cache = AltServiceCache()
            cache.learn(["http%2F1.1=\"\(place)\""], from: "https://a:443", overFaultlessTLS: true)
            return cache
        }
        let (clients, own, learning) = (cache("clients.test:444"), cache("own.test:444"), AltServiceCache())
        for hasClients in [false, true] {
            let client = Client.stubbed(stub) {
                $0.resilience = Resilience()
                if hasClients { $0.altServices = clients }
            }
            func place(_ resilience: RequestResilience?) async throws -> String? {
                _ = try await Self.places(client, stub, "https://a/", resilience)
                return stub.submitted.last?.settings.connection?.connectTo
            }
            #expect(try await place(.init(altServices: .own(own))) == "own.test:444")
            #expect(try await place(.init(altServices: .off)) == nil)
            #expect(try await place(nil) == (hasClients ? "clients.test:444" : nil))
            #expect(try await place(.init(altServices: .own(learning))) == nil)
            #expect(learning.services(of: "https://a:443").map(\.host) == ["new.test"])
            learning.learn(["clear"], from: "https://a:443", overFaultlessTLS: true)
            own.learn(["http%2F1.1=\"own.test:444\""], from: "https://a:443", overFaultlessTLS: true)
            await client.shutdown()
        }
        #expect(own.counts.chosen == 2 && own.counts.left == 0)
    }

    // MARK: What others pay

    /// Requests without choices go past the transports that only commands use.
    @Test func otherRequestsPassNoDormantTransport() async throws {
        let stub = StubTransport { _ in .response(status: 200) }
        let bare = Client.stubbed(stub) { $0.resilience = Resilience() }
        let transport = try #require(bare.layer(ResilientTransport.self))
        #expect(transport.base is EndpointTransport && transport.beneath.plain is BorrowedTransport)
        #expect(transport.watchesFirstAttempts)
        let secured = Client.stubbed(stub) {
            $0.resilience = Resilience()
            $0.hsts = HSTSStore()
        }
        let over = try #require(secured.layer(ResilientTransport.self))
        #expect(over.base is EndpointTransport && over.beneath.plain is HSTSTransport)
        // Without `resilience` there are none.
        let plain = Client.stubbed(stub)
        #expect(plain.transport is BorrowedTransport && plain.layer(EndpointTransport.self) == nil)
        let description = try plain.describe(Get(path: "x"))
        #expect(!description.hasRareMembers)
        for client in [bare, secured, plain] { await client.shutdown() }
    }

    /// An order for a transfer that went past them, or through them, reaches it.
    @Test func ordersReachTheTransfer() async throws {
        let stub = StubTransport(delivery: .immediate) { _ in .hold }
        let client = Client.stubbed(stub) { $0.resilience = Resilience() }
        let cache = AltServiceCache()
        cache.learn(["http%2F1.1=\"alt.test:444\""], from: "https://test:443", overFaultlessTLS: true)
        let choices = [nil, RequestResilience(hsts: .off), RequestResilience(altServices: .own(cache))]
        for resilience in choices {
            var description = try ResilientFixture.description(url: "https://test/")
            description.resilience = resilience
            let receiver = CallReceiver(callbacks: .inline())
            let id = try client.transport.submit(description, for: receiver)
            #expect(stub.open.count == 1)
            client.transport.cancel(id)
            #expect(stub.open.isEmpty && receiver.error == .cancelled)
        }
        await client.shutdown()
    }

    // MARK: Guards of addresses

    private struct Port: AddressFilter {
        let number: UInt16

        func refusal(of address: UnsafeRawBufferPointer, port: UInt16, isOpen: Bool) -> String? {
            port == number ? nil : "port"
        }

        func judges(as other: any AddressFilter) -> Bool { (other as? Port)?.number == number }
    }

    /// Equal filters have one object of options, and the table of filters is bounded.
    @Test func equalFiltersShareTheirOptions() throws {
        let engines = Port(number: 80)
        let judges = AddressJudges(besides: engines, connection: ConnectionOptions().resolved, pause: 60)
        #expect(judges.judged(by: .client) == nil && judges.judged(by: .own(Port(number: 80))) == nil)
        let off = try #require(judges.judged(by: .off))
        #expect(off.filter == nil && judges.judged(by: .off) === off)
        let first = try #require(judges.judged(by: .own(Port(number: 1))))
        let second = try #require(judges.judged(by: .own(Port(number: 2))))
        #expect(first !== second && judges.judged(by: .own(Port(number: 1))) === first)
        // The second one is now the one that was not used for longest.
        for number in 0..<UInt16(AddressJudges.capacity - 1) {
            _ = judges.judged(by: .own(Port(number: 1000 + number)))
        }
        #expect(judges.filter(judgingAs: Port(number: 2)) == nil)
        #expect(judges.judged(by: .own(Port(number: 1))) === first)
        let unguarded = AddressJudges(besides: nil, connection: ConnectionOptions().resolved, pause: 60)
        #expect(unguarded.judged(by: .off) == nil)
    }

    /// A filter that is an object, and counts how often it is compared.
    private final class Compared: AddressFilter {
        let number: Int
        private let count: Notes<Int>

        init(_ number: Int, _ count: Notes<Int>) {
            self.number = number
            self.count = count
        }

        var object: AnyObject? { self }

        func refusal(of address: UnsafeRawBufferPointer, port: UInt16, isOpen: Bool) -> String? { nil }

        func judges(as other: any AddressFilter) -> Bool {
            count.add(number)
            return (other as? Compared)?.number == number
        }
    }

    /// The rules are compared only where the object is another one.
    @Test func theSameFilterIsFoundByItsObject() throws {
        let count = Notes<Int>()
        let judges = AddressJudges(
            besides: Compared(0, count), connection: ConnectionOptions().resolved, pause: 60)
        let filters = (0..<5).map { Compared($0, count) }
        let made = filters.map { judges.judged(by: .own($0)) }
        let before = count.all.count
        for (filter, judged) in zip(filters, made) { #expect(judges.judged(by: .own(filter)) === judged) }
        #expect(made[0] == nil && made[1] != nil && count.all.count == before)
        #expect(judges.judged(by: .own(Compared(3, count))) === made[3] && count.all.count > before)
    }

    /// `off` with another guard: no part of the resilience applies, and the guard is the command's.
    @Test func offWithAGuard() async throws {
        let stub = StubTransport { _ in .response(status: 503) }
        let client = Client.stubbed(stub) { $0.resilience = Resilience(retry: Self.quick) }
        let off = RequestResilience.off(addressGuard: .own(AddressGuard()))
        #expect(try await Self.places(client, stub, "a", off).count == 1)
        let sent = try #require(stub.submitted.last)
        #expect(sent.isExempt && sent.resilience?.choice?.addressFilter.isClient == false)
        #expect(try await Self.places(client, stub, "a").count == 3)
        await client.shutdown()
    }

    /// A value that a command makes counts nothing; an engine's filter does.
    @Test func aGuardInSettingsIsATemplate() throws {
        let subject = AddressGuard()
        let template = AddressGuardFilter(template: subject)
        let made = try #require(template.forEngine() as? AddressGuardFilter)
        let loopback: [UInt8] = [127, 0, 0, 1]
        for filter in [template, made] {
            #expect(loopback.withUnsafeBytes { filter.refusal(of: $0, port: 80, isOpen: false) } == "loopback")
        }
        #expect(template.counts.refused == 0 && made.counts.refused == 1)
        #expect(template.judges(as: made) && !template.judges(as: AddressGuardFilter(AddressGuard(isDryRun: true))))
    }
}
