import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

/// Notes what `next` returns or throws.
private final class Watching: Interceptor {
    let seen = Mutex<[String]>([])

    func intercept(
        _ request: RequestDescription, in context: InterceptionContext, next: Next
    ) async throws -> Response {
        let result = await next.result(of: request)
        switch result {
        case .response(let response):
            seen.withLock { $0.append("\(response.statusCode) \(response.body.count) \(context.replays)") }
            return response
        case .failure(let error):
            seen.withLock { $0.append(error.shortDescription) }
            throw error
        }
    }

    var all: [String] { seen.withLock { $0 } }
}

/// Stops waiting when the server has the request, and answers.
private struct Impatient: Interceptor {
    let server: ScriptedServer

    func intercept(
        _ request: RequestDescription, in context: InterceptionContext, next: Next
    ) async throws -> Response {
        await withTaskGroup(of: Response?.self) { group in
            group.addTask { try? await next(request) }
            group.addTask {
                // Before that there may be no transfer that could be cancelled.
                try? await waitUntil("the server has the request") { server.counts.requests == 1 }
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first ?? Response(statusCode: 200, body: Array("instead".utf8))
        }
    }
}

/// Interceptors around requests to real servers.
@Suite(.timeLimit(.minutes(20))) struct AroundRunTests {
    @Test func redirectsAndAuthenticationAreInside() async throws {
        let watching = Watching()
        let challenges = ChallengeInterceptor { _ in .basic(username: "ada", password: "secret") }
        let made = try Nginx.client { $0.interceptors = [watching, challenges] }
        try await Client.with(made) { (client: Client) async throws in
            #expect(try await client.run(Get(path: "/redirect")).statusCode == 200)
            #expect(try await client.run(Get(path: "/auth/basic/12b")).body.count == 12)
        }
        #expect(watching.all.count == 2)
        #expect(watching.all.last == "200 12 1")
    }

    @Test func aStreamIsSeenByItsHead() async throws {
        let watching = Watching()
        try await Client.with(Nginx.client { $0.interceptors = [watching] }) { (client: Client) async throws in
            let response = try await client.stream(Get(path: "/64k"))
            #expect(watching.all == ["200 0 0"])
            #expect(try await response.body.collect(upTo: 1 << 20).count == 65_536)
        }
    }

    @Test func aDownloadPasses() async throws {
        let watching = Watching()
        let folder = try DownloadTests.Folder()
        try await Client.with(Nginx.client { $0.interceptors = [watching] }) { (client: Client) async throws in
            _ = try await client.run(Download(Get(path: "/12b"), to: .file(folder.path + "/a")))
        }
        #expect(folder.bytes("a")?.count == 12)
        #expect(watching.all.count == 1)
    }

    /// The transfer that nobody waits for is cancelled, on the wire too.
    @Test func anInterceptorGivesUp() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.stall])
        var configuration = Client.Configuration.patient(baseURL: server.url("/"), loops: 1)
        configuration.interceptors = [Impatient(server: server)]
        try await Client.with(Client(configuration: configuration)) { (client: Client) async throws in
            let request = client.start(Get(path: "slow"))
            let response = try await request.finalResponse()
            #expect(try response.text() == "instead")
            #expect(request.attempts.map(\.error) == [.cancelled])
        }
    }

    /// A value, where the server breaks off; and the stored response, where there is one.
    @Test func aFallbackAnswers() async throws {
        struct GetPrice: Command {
            var path: String { "price" }
            var cache: CachePolicy? { .http }
            typealias Response = String
        }
        let server = try ScriptedServer()
        let price = "HTTP/1.1 200 OK\r\nCache-Control: max-age=1\r\nAge: 1\r\nConnection: close\r\n"
        try server.on("/price", [.send(price + "Content-Length: 2\r\n\r\n17"), .close])
        try server.on("/price", [.reset])
        try server.on("/other", [.reset])
        let fallback = Fallback(.stale(), .response(body: Array("none".utf8)))
        var configuration = Client.Configuration.patient(baseURL: server.url("/"), loops: 1)
        configuration.interceptors = [fallback]
        try await Client.with(Client(configuration: configuration)) { (client: Client) async throws in
            let prices = [try await client.run(GetPrice()), try await client.run(GetPrice())]
            let other = try await client.run(Get(path: "other")).text()
            #expect(prices == ["17", "17"] && other == "none")
        }
        #expect(fallback.counts.stale == 1)
        #expect(fallback.counts.responses == 1)
    }
}
