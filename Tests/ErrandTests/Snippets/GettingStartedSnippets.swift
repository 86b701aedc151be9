import Errand
import ErrandTesting
import Testing

/// The code of the guide "Getting started"; GuideTests compares it line by line.
@Suite struct GettingStartedSnippets {
    struct GetUser: Command {
        var id: Int
        var path: String { "users/\(id)" }
        struct Response: Decodable, Sendable { var name: String }
    }

    static func makeClient() -> Client {
        let client = Client(configuration: .init(baseURL: "https://api.example.com/v1/"))
        return client
    }

    static func wait(_ client: Client) async throws {
        let user = try await client.run(GetUser(id: 1))
        print(user.name)
    }

    static func waitLater(_ client: Client) async throws {
        let request = client.request(GetUser(id: 1))
        request.onProgress { progress in print(progress.bytesReceived) }
        request.start()
        let user = try await request.finalValue()
        print(user.name, request.metrics?.total ?? .zero)
    }

    static func outcome(_ client: Client) async throws {
        let outcome = try await client.outcome(of: GetUser(id: 1))
        print(outcome.value.name, outcome.response.statusCode, outcome.metrics.total)
    }

    static func closures(_ client: Client) async {
        let request = client.start(
            GetUser(id: 1),
            success: { request in print(request.value?.name ?? "") },
            failure: { request in print(request.error?.shortDescription ?? "") })
        request.pause()
        request.resume()
        request.stop()
        await client.shutdown(.drain(within: .seconds(5)))
    }

    final class Profile {
        private var loading: RequestLease?

        func load(_ id: Int, from client: Client) {
            loading = client.start(GetUser(id: id), success: { print($0.value?.name ?? "") }).lease()
        }
    }

    static func all(_ client: Client) {
        print(client.requests.map(\.id))
        client.cancelAll()
    }

    @Test func leases() async {
        let stub = StubTransport()
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: stub)
        do {
            let profile = Profile()
            profile.load(1, from: client)
            #expect(stub.cancelled.isEmpty && client.requests.count == 1)
            withExtendedLifetime(profile) {}
        }
        #expect(stub.cancelled.count == 1)
        let request = client.start(GetUser(id: 2))
        Self.all(client)
        await client.shutdown()
        #expect(request.state == .cancelled)
    }

    @Test func gettingStarted() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: #"{"name": "Ada"}"#) }
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: stub)
        try await Self.wait(client)
        await Self.closures(client)
        #expect(client.isShutDown && stub.submitted.count == 2)
        let own = Self.makeClient()
        #expect(try own.describe(GetUser(id: 1)).url == "https://api.example.com/v1/users/1")
        await own.shutdown()
    }
}
