import Errand
import ErrandTesting
import HTTPTypes
import Testing

/// The code of the guide "Hooks" about interceptors and credentials; GuideTests compares it line by line.
@Suite struct InterceptorsSnippets {
    struct Timing: Interceptor {
        var report: @Sendable (String, Duration) -> Void

        func intercept(
            _ request: RequestDescription, in context: InterceptionContext, next: Next
        ) async throws -> Response {
            let start = ContinuousClock.now
            defer { report(request.url, ContinuousClock.now - start) }
            return try await next(request)
        }
    }

    struct PatientOnce: Interceptor {
        func intercept(
            _ request: RequestDescription, in context: InterceptionContext, next: Next
        ) async throws -> Response {
            let response = try await next(request)
            guard response.statusCode == 503 else { return response }
            try await Task.sleep(for: .milliseconds(100))
            return try await next(request)
        }
    }

    struct Impatient: Interceptor {
        var patience: Duration

        func intercept(
            _ request: RequestDescription, in context: InterceptionContext, next: Next
        ) async throws -> Response {
            try await withThrowingTaskGroup(of: Response?.self) { group in
                group.addTask { try await next(request) }
                group.addTask {
                    try await Task.sleep(for: patience)
                    return nil
                }
                let first = try await group.next() ?? nil
                group.cancelAll()
                return first ?? Response(statusCode: 200, body: Array("[]".utf8))
            }
        }
    }

    struct Signing: PreparingInterceptor {
        var sign: @Sendable ([UInt8]) -> String

        func prepare(
            _ request: RequestDescription, in context: InterceptionContext
        ) async throws -> RequestDescription {
            var request = request
            try request.headers.set(.authorization, to: sign(request.bodyBytes))
            return request
        }
    }

    struct Decrypting: TransformingInterceptor {
        var decrypt: @Sendable ([UInt8]) throws -> [UInt8]

        func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
            guard response.statusCode == 200 else { return response }
            return response.replacing(body: try decrypt(response.body.bytes))
        }
    }

    struct Rates: Codable, Sendable { var euro: Double }

    struct GetRates: Command {
        var path = "rates"
        typealias Response = Rates
    }

    struct Token: Decodable, Sendable {
        var access: String
        var refresh: String
    }

    struct TokenAuthenticator: Authenticator {
        struct Renew: Command {
            var refresh: String
            var method: HTTPRequest.Method { .post }
            var path: String { "token" }
            var body: RequestBody { .form(["grant_type": "refresh_token", "refresh_token": refresh]) }
            typealias Response = Token
        }

        let issuer: Client

        func apply(_ token: Token, to request: inout RequestDescription) throws {
            try request.headers.set(.authorization, to: "Bearer \(token.access)")
        }
        func applies(to request: RequestDescription) -> Bool { true }
        func isUsable(_ token: Token) -> Bool { true }
        func refuses(_ response: Response) -> Bool { response.statusCode == 401 }
        func refresh(_ token: Token?, after response: Response?) async throws -> Token {
            try await issuer.run(Renew(refresh: token?.refresh ?? ""))
        }
    }

    static func guarded(
        _ configuration: inout Client.Configuration, report: @escaping @Sendable (String, Duration) -> Void,
        sign: @escaping @Sendable ([UInt8]) -> String, decrypt: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) {
        configuration.interceptors = [Timing(report: report), Signing(sign: sign), Decrypting(decrypt: decrypt)]
    }

    static func fallingBack(_ configuration: inout Client.Configuration) -> Fallback {
        let fallback = Fallback(
            .stale(atMost: .seconds(3600)), .command(GetRates(path: "mirror/rates")), .json(Rates(euro: 1)))
        configuration.interceptors = [fallback]
        return fallback
    }

    static func authenticated(_ configuration: inout Client.Configuration, issuer: Client, saved: Token?) {
        let authentication = AuthenticationInterceptor(TokenAuthenticator(issuer: issuer), credential: saved)
        configuration.interceptors = [authentication]
    }

    static func challenged(secret: String) -> ChallengeInterceptor {
        let challenges = ChallengeInterceptor { challenge in
            guard challenge.realm == "archive", !challenge.isProxy else { return .take }
            return .digest(username: "ada", password: secret)
        }
        return challenges
    }

    @Test func signingAndDecrypting() async throws {
        var configuration = Client.Configuration(baseURL: "http://test/")
        let reported = Notes<String>()
        Self.guarded(
            &configuration, report: { url, _ in reported.add(url) }, sign: { "\($0.count)" },
            decrypt: { $0.map { $0 ^ 1 } })
        let stub = StubTransport { _ in .response(status: 200, body: "`c") }
        let client = Client(configuration: configuration, transport: stub)
        let response = try await client.run(RawCommand(method: .post, url: "x", body: .string("abc")))
        #expect(try response.text() == "ab")
        #expect(stub.submitted.map { $0.headers[.authorization] } == ["3"])
        #expect(reported.all == ["http://test/x"])
        await client.shutdown()
    }

    @Test func fallbacks() async throws {
        var configuration = Client.Configuration(baseURL: "http://test/")
        let fallback = Self.fallingBack(&configuration)
        let stub = StubTransport { description in
            description.url.hasSuffix("mirror/rates")
                ? .response(status: 200, body: #"{"euro": 2}"#) : .failure(.connectFailed)
        }
        let client = Client(configuration: configuration, transport: stub)
        #expect(try await client.run(GetRates()).euro == 2)
        #expect(fallback.counts.commands == 1)
        await client.shutdown()
    }

    @Test func patience() async throws {
        let stub = statuses(503, 200)
        let client = Client.stubbed(stub) { $0.interceptors = [PatientOnce()] }
        #expect(try await client.run(GetText()) == "200")
        await client.shutdown()
    }

    @Test func impatience() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub) { $0.interceptors = [Impatient(patience: .milliseconds(20))] }
        #expect(try await client.run(GetText()) == "[]")
        #expect(stub.open.isEmpty)
        await client.shutdown()
        let quick = Client.stubbed(statuses(200)) { $0.interceptors = [Impatient(patience: .seconds(600))] }
        #expect(try await quick.run(GetText()) == "200")
        await quick.shutdown()
        let broken = Client.stubbed(StubTransport { _ in .failure(.connectFailed) }) {
            $0.interceptors = [Impatient(patience: .seconds(600))]
        }
        await #expect(throws: ErrandError.connectFailed) { try await broken.run(GetText()) }
        await broken.shutdown()
    }

    @Test func oneRefresh() async throws {
        let issued = StubTransport { _ in .response(status: 200, body: #"{"access": "new", "refresh": "r2"}"#) }
        let issuer = Client(configuration: .init(baseURL: "http://issuer/"), transport: issued)
        var configuration = Client.Configuration(baseURL: "http://test/")
        Self.authenticated(&configuration, issuer: issuer, saved: Token(access: "old", refresh: "r1"))
        let stub = StubTransport { description in
            .response(status: description.headers[.authorization] == "Bearer new" ? 200 : 401)
        }
        let client = Client(configuration: configuration, transport: stub)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await client.run(RawCommand(url: "x")).statusCode } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 20))
        #expect(
            issued.submitted.map { String(decoding: $0.bodyBytes, as: UTF8.self) }
                == ["grant_type=refresh_token&refresh_token=r1"])
        await client.shutdown()
        await issuer.shutdown()
    }

    @Test func challenges() async throws {
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.interceptors = [Self.challenged(secret: "s")]
        let stub = StubTransport { description in
            description.authentication == nil
                ? .response(status: 401, headers: [.wwwAuthenticate: #"Digest realm="archive", nonce="n""#])
                : .response(status: 200)
        }
        let client = Client(configuration: configuration, transport: stub)
        #expect(try await client.run(RawCommand(url: "x")).statusCode == 200)
        #expect(stub.submitted.map(\.authentication) == [nil, .digest(username: "ada", password: "s")])
        await client.shutdown()
    }
}
