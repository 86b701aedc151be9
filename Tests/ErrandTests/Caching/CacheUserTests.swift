import ErrandTesting
import HTTPTypes
import Testing

@testable import Errand

/// Nobody is given what another was told.
@Suite(.timeLimit(.minutes(5))) struct CacheUserTests {
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
}
