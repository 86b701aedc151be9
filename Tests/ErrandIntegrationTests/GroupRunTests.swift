import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel

private struct GetText: Command {
    var path: String
    typealias Response = String
}

private struct Login: Command {
    var path: String { "login" }
    var method: HTTPRequest.Method { .post }
    struct Response: Decodable, Sendable { var token: String }
}

private struct GetProfile: Command {
    var token: String
    var path: String { "profile" }
    var authorization: Authorization? { .bearer(token) }
    struct Response: Decodable, Sendable { var id: Int }
}

@Suite(.timeLimit(.minutes(20))) struct GroupRunTests {
    /// Three thousand children are neither three thousand connections nor three thousand requests at a time.
    @Test func childrenAreAFewAtATime() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        try await Client.with(Client(configuration: .patient(baseURL: server.url()))) { client in
            let request = client.request(Batch(count: 3000, maxConcurrent: 32) { _ in GetText(path: "a") })
            var most = 0
            var count = 0
            for try await (_, result) in request.resultsAsCompleted {
                #expect(throws: Never.self) { try result.get() }
                count += 1
                if count % 500 == 0 { most = max(most, client.requests.count) }
            }
            #expect(count == 3000 && request.value?.values.count == 3000)
            // And the batch itself.
            #expect(most <= 33)
        }
        #expect(server.counts.requests == 3000 && server.counts.connections <= 32)
    }

    @Test func aChainSignsInAndBranches() async throws {
        let server = try ScriptedServer()
        func answer(_ body: String) -> [ScriptedServer.Step] {
            [.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")]
        }
        try server.on("/login", answer(#"{"token": "abc"}"#))
        try server.on("/profile", answer(#"{"id": 7}"#))
        try server.on("/orders/7", answer("orders"))
        try server.on("/welcome", answer("welcome"))
        try await Client.with(Client(configuration: .patient(baseURL: server.url()))) { client in
            let orders = try await client.run(
                Chain(Login()).then { GetProfile(token: $0.token) }.then { GetText(path: "orders/\($0.id)") })
            #expect(orders == "orders")
            let results = try await client.run(
                Chain([
                    ChainStep(Login(), name: "login") { turn in
                        if turn.value.token == "abc" { turn.insert(ChainStep(GetText(path: "welcome"))) }
                    },
                    ChainStep { GetProfile(token: try $0.value(named: "login", as: Login.Response.self).token) },
                ]))
            #expect(results.value(of: GetText.self) == "welcome" && results.value(of: GetProfile.self)?.id == 7)
        }
        #expect(server.requests.map(\.target) == ["/login", "/profile", "/orders/7", "/login", "/welcome", "/profile"])
        let tokens = server.requests.filter { $0.target == "/profile" }.map { $0.values(of: "authorization") }
        #expect(tokens == [["Bearer abc"], ["Bearer abc"]])
    }

    @Test func aStopClosesTheConnectionsOfTheChildren() async throws {
        let server = try ScriptedServer()
        try server.on("/slow", [.stall])
        try await Client.with(Client(configuration: .patient(baseURL: server.url()))) { client in
            let batch = client.start(Batch(count: 100, maxConcurrent: 5) { _ in GetText(path: "slow") })
            #expect(await server.hasSeen(.init(requests: 5)))
            batch.stop()
            #expect(await server.hasSeen(.init(closed: 5)))
            // A request leaves the client's list after its state has changed.
            try await waitUntil("the batch has ended") { batch.state.isFinished && client.requests.isEmpty }
            #expect(batch.state == .cancelled)
        }
        #expect(server.counts.requests == 5)
    }

    @Test func oneFailureStopsTheRest() async throws {
        let (server, broken) = (try ScriptedServer(), try ScriptedServer())
        try server.on("/slow", [.stall])
        try broken.on("/broken", [.stall, .send("HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n")])
        try await Client.with(Client(configuration: .patient(baseURL: server.url()))) { client in
            // The children start one by one: a failure of the second might come before the third is sent.
            let release = Task {
                let areSent = await server.hasSeen(.init(requests: 2))
                broken.release()
                return areSent
            }
            let error = await #expect(throws: ErrandError.groupFailed) {
                try await client.run(
                    GetText(path: "slow"), GetText(path: broken.url("/broken")), GetText(path: "slow"))
            }
            #expect(await release.value)
            #expect(error?.groupFailure?.index == 1 && error?.statusCode == 503)
            #expect(await server.hasSeen(.init(closed: 2)))
        }
    }
}
