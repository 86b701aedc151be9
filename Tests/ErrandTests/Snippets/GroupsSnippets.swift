import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

/// The code of the guide "Groups" and of the groups of docs/tour.md; GuideTests compares it line by line.
@Suite(.timeLimit(.minutes(20))) struct GroupsSnippets {
    private typealias GetUser = GettingStartedSnippets.GetUser

    struct Register: Command {
        var name: String
        var method: HTTPRequest.Method { .post }
        var path: String { "users" }
        var body: RequestBody { .json(["name": name]) }
        struct Response: Decodable, Sendable { var id: Int }
    }

    struct Login: Command {
        var user: String
        var method: HTTPRequest.Method { .post }
        var path: String { "login" }
        var body: RequestBody { .json(["user": user]) }
        struct Response: Decodable, Sendable { var token: String }
    }

    struct GetProfile: Command {
        var token: String
        var path: String { "profile" }
        var authorization: Authorization? { .bearer(token) }
        struct Response: Decodable, Sendable {
            var id: Int
            var isNew: Bool
        }
    }

    struct ListOrders: Command {
        var user: Int
        var path: String { "users/\(user)/orders" }
        typealias Response = [Int]
    }

    struct ListPrices: Command {
        var path: String { "prices" }
        typealias Response = [Int]
    }

    // MARK: README

    static func readmeBatch(_ client: Client) async throws {
        let batch = client.request(Batch((1...1000).map(GetUser.init), policy: .collectAll, maxConcurrent: 16))
        batch.onAdvance { ended, count in print("\(ended) of \(count ?? 0)") }
        for try await (index, result) in batch.resultsAsCompleted {  // as they come; `break` stops the rest
            switch result {
            case .success(let user): print(index, user.name)
            case .failure(let error): print(index, error.shortDescription)
            }
        }
        let (ada, registered) = try await client.run(GetUser(id: 1), Register(name: "Eve"))  // both at once, typed
        print(ada.name, registered.id)
    }

    static func readmeChain(_ client: Client) async throws {
        let results = try await client.run(
            Chain([
                ChainStep(Register(name: "Ada"), name: "new") { turn in
                    if turn.value.id > 1 { turn.insert(ChainStep(GetUser(id: 1)), ChainStep(GetUser(id: 2))) }
                } onFailure: { error, count in
                    error.isTimeout && count < 3 ? .retry(after: .seconds(1)) : .abort
                },
                ChainStep(make: { GetUser(id: try $0.value(named: "new", as: Register.Response.self).id) }),
            ]))
        print(results.values(of: GetUser.self).map(\.name))
    }

    // MARK: Batches

    static func batch(_ client: Client) async throws {
        let users = try await client.run(Batch((1...100).map(GetUser.init), maxConcurrent: 16))
        for user in users.values { print(user.name) }
    }

    static func counted(_ client: Client) async throws {
        let all = Batch(count: 10_000, policy: .collectAll) { GetUser(id: $0) }
        print(try await client.run(all).failures.count)
    }

    static func policies(_ client: Client) async throws {
        let users = try await client.run(Batch([1, 2, 3].map(GetUser.init), policy: .collectAll))
        for (index, error) in users.failures { print(index, error.shortDescription) }
    }

    static func mixed(_ client: Client) async throws {
        let mixed = try await client.run(Batch([BatchMember(GetUser(id: 1)), BatchMember(ListPrices())]))
        if let user = mixed.values[0] as? GetUser.Response { print(user.name) }
    }

    static func tuple(_ client: Client) async throws {
        let (user, prices) = try await client.run(GetUser(id: 1), ListPrices())
        print(user.name, prices.count)
        let (first, second) = try await client.results(of: GetUser(id: 1), ListPrices())
        if case .failure(let error) = second { print(error.shortDescription) }
        if case .success(let user) = first { print(user.name) }
    }

    static func results(_ client: Client) async throws {
        let batch = client.request(Batch((1...100).map(GetUser.init), policy: .collectAll))
        for try await (index, result) in batch.resultsAsCompleted {
            guard case .success(let user) = result else { continue }
            print(index, user.name)
            if user.name == "Eve" { break }
        }
    }

    static func progress(_ client: Client) -> BatchRequest<GettingStartedSnippets.GetUser.Response> {
        let batch = client.request(Batch((1...100).map(GetUser.init)))
        batch.onAdvance { ended, count in print("\(ended) of \(count ?? 0)") }
        batch.start(
            success: { batch in print(batch.value?.values.count ?? 0) },
            failure: { batch in print(batch.error?.groupFailure?.index ?? -1) })
        return batch
    }

    static func requests(_ client: Client) async throws {
        let user = client.request(GetUser(id: 1))
        user.whenDone { user in print(user.value?.name ?? "") }
        let batch = try await client.run(Batch(requests: [user, client.request(GetUser(id: 2))]))
        print(batch.values.count)
    }

    // MARK: Chains

    static func typed(_ client: Client) async throws {
        let orders = try await client.run(
            Chain(Login(user: "ada"))
                .then { login in GetProfile(token: login.token) }
                .then { profile in ListOrders(user: profile.id) })
        print(orders.count)
    }

    static func built(_ client: Client) async throws {
        let chain = Chain {
            Login(user: "ada")
            Then { (login: Login.Response) in GetProfile(token: login.token) }
            Then { (profile: GetProfile.Response) in ListOrders(user: profile.id) }
        }
        print(try await client.run(chain).count)
    }

    static func branch(_ client: Client) async throws {
        let chain = Chain([
            ChainStep(Login(user: "ada"), name: "login"),
            ChainStep(
                make: { GetProfile(token: try $0.value(named: "login", as: Login.Response.self).token) },
                then: { turn in
                    if turn.value.isNew { turn.insert(ChainStep(GetUser(id: 2)), ChainStep(ListPrices())) }
                }),
            ChainStep(make: { ListOrders(user: $0.value(of: GetProfile.self)?.id ?? 0) }),
        ])
        let results = try await client.run(chain)
        print(results.value(of: ListOrders.self)?.count ?? 0, results.entries.map(\.index))
    }

    static func polled(_ client: Client) async throws {
        struct Incomplete: Error {}
        let poll = ChainStep(ListOrders(user: 1), name: "poll") { turn in
            guard turn.value.isEmpty else { return }
            if turn.runs < 10 { turn.again(after: .milliseconds(50)) } else { turn.abort(Incomplete()) }
        }
        print(try await client.run(Chain([poll, ChainStep(ListPrices())])).entries.count)
    }

    static func recovery(_ client: Client) async throws {
        let steps = [
            ChainStep(
                ListPrices(), name: "prices",
                onFailure: { error, count in
                    error == .statusNotAccepted && count < 3 ? .retry(after: .milliseconds(200)) : .skip
                }),
            ChainStep(GetUser(id: 1), onFailure: { _, _ in .replace(ChainStep(GetUser(id: 2))) }),
        ]
        print(try await client.run(Chain(steps)).value(of: GetUser.self)?.name ?? "")
    }

    static func added(_ client: Client) throws -> ChainRequest<GroupResults> {
        let chain = client.request(Chain([ChainStep(ListPrices())]))
        try chain.add(ChainStep(GetUser(id: 1)))
        chain.start()
        return chain
    }

    // MARK: Graphs

    static func graph(_ client: Client) async throws {
        let results = try await client.run(
            RequestGraph([
                .init("profile", after: ["login"]) { results in
                    GetProfile(token: try results.value(named: "login", as: Login.Response.self).token)
                },
                .init("login", Login(user: "ada")),
                .init("prices", ListPrices()),
                .init("orders", after: ["profile", "prices"]) { results in
                    ListOrders(user: try results.value(named: "profile", as: GetProfile.Response.self).id)
                },
            ]))
        print(try results.value(named: "orders", as: [Int].self))
    }

    // MARK: All of them

    static func nested(_ client: Client) async throws {
        let chain = Chain(Login(user: "ada")).then { login in
            Batch([BatchMember(GetProfile(token: login.token)), BatchMember(ListPrices())])
        }
        print(try await client.run(chain).values.count)
    }

    static func timed(_ client: Client) async throws {
        var batch = Batch((1...100).map(GetUser.init))
        batch.timeouts = Timeouts(total: .seconds(30))
        print(try await client.run(batch).values.count)
    }

    static func failed(_ client: Client) async throws {
        do {
            print(try await client.run(Batch([1, 2, 3].map(GetUser.init))).values.count)
        } catch let error as ErrandError {
            guard let failure = error.groupFailure else { throw error }
            print(failure.index, failure.name ?? "", failure.error.isTimeout, failure.error.response?.statusCode ?? 0)
        }
    }

    // MARK: Runs

    /// Answers by path; what `failing` names, with 500, so many times.
    private func client(failing: [String: Int] = [:], isNew: Bool = true) -> (Client, StubTransport) {
        let left = Mutex(failing)
        let stub = StubTransport { description in
            let path = String(description.url.dropFirst("http://test/".count))
            let isFailure = left.withLock { left -> Bool in
                guard let count = left[path], count > 0 else { return false }
                left[path] = count - 1
                return true
            }
            if isFailure { return .response(status: 500) }
            return switch path {
            case "login": .response(status: 200, body: #"{"token": "t"}"#)
            case "profile": .response(status: 200, body: #"{"id": 7, "isNew": \#(isNew)}"#)
            case "users": .response(status: 200, body: #"{"id": 3}"#)
            case "prices", "users/7/orders": .response(status: 200, body: "[1, 2]")
            case "users/1/orders": .response(status: 200, body: "[]")
            default: .response(status: 200, body: #"{"name": "Ada"}"#)
            }
        }
        return (Client(configuration: .init(baseURL: "http://test/"), transport: stub), stub)
    }

    private func paths(_ stub: StubTransport) -> [String] {
        stub.submitted.map { String($0.url.dropFirst("http://test/".count)) }
    }

    @Test func readme() async throws {
        let (client, stub) = client()
        try await Self.readmeBatch(client)
        #expect(stub.submitted.count == 1002)
        try await Self.readmeChain(client)
        #expect(paths(stub).suffix(4) == ["users", "users/1", "users/2", "users/3"])
        await client.shutdown(.cancel)
    }

    @Test func batches() async throws {
        let (client, stub) = client(failing: ["users/2": 1])
        try await Self.policies(client)
        try await Self.batch(client)
        try await Self.mixed(client)
        try await Self.tuple(client)
        try await Self.results(client)
        try await Self.requests(client)
        try await Self.timed(client)
        let request = Self.progress(client)
        await client.shutdown()
        #expect(request.value?.values.count == 100)
        let sent = [3, 100, 2, 4, 100, 2, 100, 100]
        #expect(stub.submitted.count == sent.reduce(0, +))
    }

    @Test func countedBatches() async throws {
        let (client, stub) = client()
        try await Self.counted(client)
        #expect(stub.submitted.count == 10_000)
        await client.shutdown(.cancel)
    }

    @Test func chains() async throws {
        let (client, stub) = client(failing: ["users/1": 1])
        try await Self.typed(client)
        try await Self.built(client)
        #expect(paths(stub) == ["login", "profile", "users/7/orders", "login", "profile", "users/7/orders"])
        try await Self.branch(client)
        #expect(paths(stub).suffix(5) == ["login", "profile", "users/2", "prices", "users/7/orders"])
        try await Self.recovery(client)
        #expect(paths(stub).suffix(3) == ["prices", "users/1", "users/2"])
        await #expect(throws: ErrandError.groupFailed) { try await Self.polled(client) }
        #expect(paths(stub).suffix(10) == Array(repeating: "users/1/orders", count: 10))
        try await Self.nested(client)
        let request = try Self.added(client)
        await client.shutdown()
        #expect(request.value?.entries.count == 2)
    }

    @Test func graphs() async throws {
        let (client, stub) = client()
        try await Self.graph(client)
        #expect(Set(paths(stub).prefix(2)) == ["login", "prices"] && paths(stub).last == "users/7/orders")
        await client.shutdown(.cancel)
    }

    @Test func failures() async throws {
        let (client, _) = client(failing: ["users/2": 1])
        try await Self.failed(client)
        await client.shutdown(.cancel)
    }
}
