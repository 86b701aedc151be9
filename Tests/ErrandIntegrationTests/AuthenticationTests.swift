import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

/// Gets its tokens from the same server by the same client.
private final class TokenService: Authenticator {
    private let client = Mutex<Client?>(nil)
    private let refreshes = Atomic<Int>(0)
    private let path: String

    /// The token is always `t1`; what it asks for is at `path`.
    init(path: String = "/12b") {
        self.path = path
    }

    var count: Int { refreshes.load(ordering: .relaxed) }

    func use(_ client: Client?) {
        self.client.withLock { $0 = client }
    }

    func apply(_ token: String, to request: inout RequestDescription) throws {
        try request.headers.set(.authorization, to: "Bearer \(token)")
    }

    func refresh(_ token: String?, after response: Response?) async throws -> String {
        refreshes.add(1, ordering: .relaxed)
        _ = try await client.withLock { $0 }?.run(Get(path: path))
        return "t1"
    }

    func applies(to request: RequestDescription) -> Bool { true }
    func isUsable(_ credential: String) -> Bool { true }
    func refuses(_ response: Errand.Response) -> Bool { response.statusCode == 401 }
}

/// Holds results until there are so many: a request that is built while the credential is being refreshed waits for that
/// and is not sent with the old one, so the first refusal must not be heard of before the last request was sent.
private final class ResultHolder: ReplayingInterceptor {
    private let results = Atomic<Int>(0)
    private let least: Int
    private let gate = Gate()

    init(least: Int) {
        self.least = least
    }

    func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
        if results.add(1, ordering: .relaxed).newValue == least { await gate.open() }
        await gate.pass()
        return false
    }
}

/// Against nginx, which knows the token and the password by itself.
@Suite struct AuthenticationTests {
    private static let many = 1000

    private func storm(_ client: Client, path: String) async -> [Result<Int, any Error>] {
        await withTaskGroup(of: Result<Int, any Error>.self) { group in
            for number in 0..<Self.many {
                let isPost = number.isMultiple(of: 3)
                let command = Get(
                    path: path, method: isPost ? .post : .get, body: isPost ? .string("body \(number)") : .empty)
                group.addTask {
                    do {
                        return .success(try await client.run(command).statusCode)
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(.timeLimit(.minutes(20)))
    func aThousandRequestsWithAnExpiredTokenCauseOneRefresh() async throws {
        let service = TokenService()
        let interceptor = AuthenticationInterceptor(service, credential: "t0", refreshTimeout: .seconds(280))
        try await Client.with(Nginx.client { $0.interceptors = [interceptor] }) { client in
            service.use(client)
            let results = await storm(client, path: "/auth/bearer/t1")
            #expect(results.count == Self.many)
            for result in results { #expect(throws: Never.self) { try result.get() } }
            #expect(service.count == 1)
            service.use(nil)
        }
    }

    /// The token service itself answers 404, or 401, which must not be refreshed in its turn.
    @Test(.timeLimit(.minutes(20)), arguments: ["/status/404", "/auth/bearer/t1"])
    func aFailedRefreshFailsAThousand(path: String) async throws {
        let service = TokenService(path: path)
        let interceptor = AuthenticationInterceptor(service, credential: "t0", refreshTimeout: .seconds(280))
        // Asked before the other: results come to interceptors in the opposite order.
        let holder = ResultHolder(least: Self.many)
        try await Client.with(Nginx.client { $0.interceptors = [interceptor, holder] }) { client in
            service.use(client)
            for result in await storm(client, path: "/auth/bearer/t1") {
                let error = #expect(throws: ErrandError.self) { try result.get() }
                #expect(error == .authenticationFailed)
                #expect(error?.statusCode == 401)
                #expect(error?.underlyingError as? ErrandError == .statusNotAccepted)
            }
            #expect(service.count == 1)
            service.use(nil)
        }
    }

    @Test func aChallengeIsAnsweredAndTheAnswerKept() async throws {
        let attempts = Atomic<Int>(0)
        let challenges = ChallengeInterceptor(limit: 2) { challenge in
            guard challenge.realm == "tests", challenge.scheme == "basic" else { return .fail }
            attempts.add(1, ordering: .relaxed)
            return .basic(username: "ada", password: challenge.attempt == 1 ? "wrong" : "secret")
        }
        try await Client.with(Nginx.client { $0.interceptors = [challenges] }) { client in
            for (path, statuses) in [("/auth/basic/12b", [401, 401, 200]), ("/auth/basic/1k", [200])] {
                let request = await withCheckedContinuation { continuation in
                    client.start(Get(path: path)) { continuation.resume(returning: $0) }
                }
                #expect(request.attempts.map { $0.response?.statusCode } == statuses)
            }
            #expect(attempts.load(ordering: .relaxed) == 2)
        }
    }

    /// Nobody is refreshed or asked on behalf of a server that a redirect led to, and it is shown nothing.
    @Test func whereARedirectLedNothingIsAnswered() async throws {
        let (first, second) = (try ScriptedServer(), try ScriptedServer())
        try first.on(nil, [.send("HTTP/1.1 302 Found\r\nLocation: \(second.url("/in"))\r\nContent-Length: 0\r\n\r\n")])
        try second.on(
            nil, [.send("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"tests\"\r\nContent-Length: 0\r\n\r\n")])
        let service = TokenService()
        let asked = Atomic<Int>(0)
        let interceptors: [any Interceptor] = [
            ChallengeInterceptor { _ in
                asked.add(1, ordering: .relaxed)
                return .basic(username: "ada", password: "secret")
            }, AuthenticationInterceptor(service, credential: "t0"),
        ]
        var configuration = Client.Configuration.patient(baseURL: first.url("/"))
        configuration.interceptors = interceptors
        try await Client.with(Client(configuration: configuration)) { client in
            _ = await #expect(throws: ErrandError.statusNotAccepted) { try await client.run(Get(path: "out")) }
        }
        #expect(service.count == 0)
        #expect(asked.load(ordering: .relaxed) == 0)
        #expect(first.requests.map { $0.values(of: "authorization") } == [["Bearer t0"]])
        #expect(second.requests.map { $0.values(of: "authorization") } == [[]])
    }
}
