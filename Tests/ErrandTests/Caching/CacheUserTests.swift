import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandAuthentication
@testable import ErrandCaching
@testable import ErrandClient
@testable import ErrandEngine

/// Nobody is given what another was told.
@Suite(.timeLimit(.minutes(20))) struct CacheUserTests {
    static let policies = [CachePolicy.timed(.seconds(60)), .http]

    private static func cookies(_ description: RequestDescription) -> [String] {
        description.headers.fields[values: .cookie]
    }

    private static let answer: CachingBench.Answer = { description, number in
        .response(
            status: 200, headers: ["Cache-Control": "max-age=60"],
            body: "\(number) \(cookies(description).joined(separator: "&"))")
    }

    /// A field that all requests have may come before the one that tells users apart.
    @Test(arguments: policies) func everyCookieFieldIsInTheKey(_ policy: CachePolicy) async throws {
        try await CachingBench(answer: Self.answer).run { bench async throws in
            func get(_ user: String) -> GetCached {
                var headers = HTTPFields()
                headers.append(HTTPField(name: .cookie, value: "theme=dark"))
                headers.append(HTTPField(name: .cookie, value: "session=\(user)"))
                return GetCached(cache: policy, headers: headers)
            }
            #expect(try await bench.client.run(get("ada")) == "1 theme=dark&session=ada")
            #expect(try await bench.client.run(get("bob")) == "2 theme=dark&session=bob")
            #expect(try await bench.client.run(get("ada")) == "1 theme=dark&session=ada")
        }
    }

    /// Whom a jar has logged in is not in the request; two jars are two users.
    @Test(arguments: policies) func clientsWithJarsOfTheirOwnShareNothing(_ policy: CachePolicy) async throws {
        let cache = ResponseCache(now: { 1_000_000 })
        func bench(_ name: String, _ cookies: CookieStorage) -> CachingBench {
            CachingBench(
                answer: { _, number in
                    .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "\(name) \(number)")
                },
                change: {
                    $0.cache = cache
                    $0.cookies = cookies
                })
        }
        try await bench("ada", .memory).run { ada async throws in
            try await bench("bob", .memory).run { bob async throws in
                #expect(try await ada.client.run(GetCached(cache: policy)) == "ada 1")
                #expect(try await bob.client.run(GetCached(cache: policy)) == "bob 1")
                #expect(try await ada.client.run(GetCached(cache: policy)) == "ada 1")
                // Of no jar's.
                let plain = GetCached(path: "y", cache: policy, options: .withoutCookies)
                #expect(try await ada.client.run(plain) == "ada 2")
                #expect(try await bob.client.run(plain) == "ada 2")
            }
        }
        try await bench("eve", .file("/tmp/eve")).run { eve async throws in
            #expect(try await eve.client.run(GetCached(cache: policy)) == "eve 1")
        }
        try await bench("eve again", .file("/tmp/eve")).run { eve async throws in
            #expect(try await eve.client.run(GetCached(cache: policy)) == "eve 1")
        }
    }

    /// What anybody may have said is not given to who looks at certificates.
    @Test(arguments: policies) func whatNobodyVouchedForIsKeptApart(_ policy: CachePolicy) async throws {
        let cache = ResponseCache(now: { 1_000_000 })
        func bench(_ isInsecure: Bool) -> CachingBench {
            CachingBench(
                answer: { _, _ in
                    .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "\(isInsecure)")
                },
                change: {
                    $0.cache = cache
                    if isInsecure { $0.settings.connection.tls.insecureAcceptAnyCertificate = true }
                })
        }
        try await bench(true).run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: policy)) == "true")
        }
        try await bench(false).run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: policy)) == "false")
        }
    }

    private static let who: HTTPField.Name = "X-Who"

    /// A field of the command's own that says by its name that it is a secret. For all kinds of caches: RFC 9111 3.5 says
    /// nothing of any but `Authorization`.
    @Test(arguments: policies, [false, true])
    func everySecretFieldIsInTheKey(_ policy: CachePolicy, _ isShared: Bool) async throws {
        try await CachingBench(isShared: isShared, answer: Self.answer).run { bench async throws in
            let names = Redaction.secretHeaders.subtracting(["Authorization", "Set-Cookie", "Cookie"])
            for name in names.sorted() {
                guard let name = HTTPField.Name(name) else { throw ErrandError.internalFailure }
                let ada = GetCached(path: name.rawName, cache: policy, headers: [name: "ada"])
                let bob = GetCached(path: name.rawName, cache: policy, headers: [name: "bob"])
                let first = try await bench.client.run(ada)
                #expect(try await bench.client.run(bob) != first, "\(name)")
                #expect(try await bench.client.run(ada) == first, "\(name)")
            }
        }
    }

    /// Puts the user of the moment into a field that nobody knows.
    private struct Names: PreparingInterceptor {
        func prepare(
            _ request: RequestDescription, in context: InterceptionContext
        ) async throws -> RequestDescription {
            var request = request
            try request.headers.set(CacheUserTests.who, to: UserOfTask.name)
            return request
        }
    }

    private enum UserOfTask {
        @TaskLocal static var name = "ada"
    }

    @Test(arguments: policies, [false, true])
    func whatAnInterceptorAddsIsInTheKey(_ policy: CachePolicy, _ isShared: Bool) async throws {
        let answer: CachingBench.Answer = { description, number in
            .response(
                status: 200, headers: ["Cache-Control": "max-age=60"],
                body: "\(number) \(description.headers[CacheUserTests.who] ?? "nobody")")
        }
        try await CachingBench(isShared: isShared, answer: answer, change: { $0.interceptors = [Names()] }).run {
            bench async throws in
            func get(_ user: String) async throws -> String {
                try await UserOfTask.$name.withValue(user) {
                    // The task of `prepare` has the locals of whoever starts the request.
                    try await bench.client.run(GetCached(cache: policy))
                }
            }
            #expect(try await get("ada") == "1 ada")
            #expect(try await get("bob") == "2 bob")
            #expect(try await get("ada") == "1 ada")
            #expect(try await bench.client.cached(GetCached(cache: policy)).value == "1 ada")
        }
    }

    /// A token in a field of the service's own, refreshed to another's.
    @Test(arguments: policies) func whatAnAuthenticatorAddsIsInTheKey(_ policy: CachePolicy) async throws {
        let authentication = AuthenticationInterceptor(TestAuthenticator(field: Self.who), credential: "ada")
        let answer: CachingBench.Answer = { description, _ in
            .response(
                status: 200, headers: ["Cache-Control": "max-age=60"],
                body: description.headers[CacheUserTests.who] ?? "nobody")
        }
        try await CachingBench(answer: answer, change: { $0.interceptors = [authentication] }).run {
            bench async throws in
            #expect(try await bench.client.run(GetCached(cache: policy)) == "ada")
            authentication.credential = "bob"
            #expect(try await bench.client.run(GetCached(cache: policy)) == "bob")
            authentication.credential = "ada"
            #expect(try await bench.client.run(GetCached(cache: policy)) == "ada")
            #expect(bench.sent == 2)
        }
    }

    /// `keyURL` may leave out who asks; the key and the record do not show it.
    @Test(arguments: policies) func theUserOfAURLIsInTheKeyAlone(_ given: CachePolicy) async throws {
        var policy = given
        policy.keyURL = { _ in "http://test/" }
        let store = MemoryCacheStore()
        try await CachingBench(store: store, answer: Self.answer).run { bench async throws in
            let ada = GetCached(path: "http://ada:lovelace@test/", cache: policy)
            let first = try await bench.client.run(ada)
            #expect(try await bench.client.run(GetCached(path: "http://bob:b@test/", cache: policy)) != first)
            #expect(try await bench.client.run(ada) == first)
            let key = try #require(try await bench.client.cacheKey(for: ada))
            #expect(store.read(key)?.url == "http://test/")
        }
    }

    /// Nobody joins another user's transfer.
    @Test(arguments: policies) func whoIsToldApartWaitsForNobodyElse(_ given: CachePolicy) async throws {
        var policy = given
        policy.collapsesMisses = true
        let stub = StubTransport { _ in .hold }
        let client = Client.stubbed(stub)
        let cached = [policy, .off].map { policy in
            ["ada", "bob"].map { user in
                client.request(
                    GetCached(cache: policy, headers: ["X-Api-Key": user], options: policy.isOff ? .coalesced : []))
            }
        }.joined()
        for request in cached { request.start() }
        #expect(stub.submitted.count == 4)
        await client.shutdown(.cancel)
    }
}
