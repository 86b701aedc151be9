import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandAuthentication
@testable import ErrandCaching

/// Which fields tell users apart is the policy's to say.
@Suite(.timeLimit(.minutes(20))) struct CacheIdentityTests {
    static let policies = [CachePolicy.timed(.seconds(60)), .http]

    private struct Guarded: Command {
        var path: String { "x" }
        var cache: CachePolicy?
        var resilience: RequestResilience?
        typealias Response = String
    }

    /// A response that came from an address that another guard refuses is not found.
    @Test(arguments: policies) func theGuardOfACommandTellsResponsesApart(_ given: CachePolicy) async throws {
        try await CachingBench(answer: Self.answer).run { bench async throws in
            func get(_ resilience: RequestResilience?) async throws -> String {
                try await bench.client.run(Guarded(cache: given, resilience: resilience))
            }
            #expect(try await get(nil) == "1")
            #expect(try await get(.init(addressGuard: .own(AddressGuard()))) == "2")
            #expect(try await get(.init(addressGuard: .off)) == "3")
            #expect(try await get(.init(addressGuard: .own(AddressGuard(isDryRun: true)))) == "4")
            let rules = [try AddressGuard.Rule.deny("10.0.0.0/8", ports: 80...80)]
            #expect(try await get(.init(addressGuard: .own(AddressGuard(rules: rules)))) == "5")
            // An equal guard, and a command that replaces something else.
            #expect(try await get(.init(retry: .never, addressGuard: .own(AddressGuard()))) == "2")
            #expect(try await get(.off(addressGuard: .off)) == "3")
            #expect(try await get(.init(retry: .never)) == "1")
            #expect(try await get(.off) == "1")
        }
    }

    private static let answer: CachingBench.Answer = { _, number in
        .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "\(number)")
    }

    /// Numbers every request, in that field.
    private final class Numbers: PreparingInterceptor {
        let name: HTTPField.Name
        private let last = Mutex(0)

        init(_ name: HTTPField.Name) { self.name = name }

        func prepare(
            _ request: RequestDescription, in context: InterceptionContext
        ) async throws -> RequestDescription {
            var request = request
            let number = last.withLock { last in
                last += 1
                return last
            }
            try request.headers.set(name, to: "\(number)")
            return request
        }
    }

    @Test(arguments: policies) func aFieldOfTheCommandsOwnIsNamed(_ given: CachePolicy) async throws {
        try await CachingBench(answer: Self.answer).run { bench async throws in
            func get(_ tenant: String, _ policy: CachePolicy) async throws -> String {
                try await bench.client.run(GetCached(cache: policy, headers: ["X-Tenant": tenant]))
            }
            #expect(try await get("a", given) == "1")
            #expect(try await get("b", given) == "1")
            var policy = given
            policy.identityFields = ["x-tenant"]
            #expect(try await get("a", policy) == "2")
            #expect(try await get("b", policy) == "3")
            #expect(try await get("a", policy) == "2")
        }
    }

    @Test(arguments: policies) func aSecretThatTellsNobodyApartIsNamed(_ given: CachePolicy) async throws {
        try await CachingBench(answer: Self.answer).run { bench async throws in
            var policy = given
            policy.ignoredFields = ["x-api-KEY", "cookie"]
            for key in ["a", "b"] {
                let command = GetCached(cache: policy, headers: ["X-Api-Key": key, "Cookie": key])
                #expect(try await bench.client.run(command) == "1")
            }
            let other = GetCached(cache: policy, headers: ["X-Auth-Token": "a"])
            #expect(try await bench.client.run(other) == "2")
        }
    }

    /// A request's number is another each time, and nobody's name.
    @Test(arguments: policies) func theNumberOfARequestTellsNobodyApart(_ given: CachePolicy) async throws {
        for name in CachePolicy.requestFields.subtracting(["Cache-Control", "Pragma"]).sorted() {
            guard let field = HTTPField.Name(name), !name.hasPrefix("If-") else { continue }
            try await CachingBench(answer: Self.answer, change: { $0.interceptors = [Numbers(field)] }).run {
                bench async throws in
                for _ in 0..<2 { #expect(try await bench.client.run(GetCached(cache: given)) == "1", "\(name)") }
            }
        }
        // What nobody knows is somebody's name until the policy says otherwise.
        try await CachingBench(answer: Self.answer, change: { $0.interceptors = [Numbers("X-Turn")] }).run {
            bench async throws in
            for turn in ["1", "2"] { #expect(try await bench.client.run(GetCached(cache: given)) == turn) }
            var policy = given
            policy.ignoredFields.insert("X-Turn")
            for _ in 0..<2 { #expect(try await bench.client.run(GetCached(cache: policy)) == "3") }
        }
    }

    /// What was asked for with credentials that the challenge brought is not for those who have none.
    @Test(arguments: policies) func anAnswerToAChallengeIsInTheKey(_ policy: CachePolicy) async throws {
        let cache = ResponseCache(now: { 1_000_000 })
        func bench(_ interceptors: [any Interceptor]) -> CachingBench {
            CachingBench(
                answer: { description, _ in
                    description.headers[.authorization] == nil
                        ? .response(status: 401, headers: ["WWW-Authenticate": "Basic realm=r"], body: "who?")
                        : .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "secret")
                },
                change: {
                    $0.cache = cache
                    $0.interceptors = interceptors
                })
        }
        let challenges = ChallengeInterceptor { _ in .basic(username: "ada", password: "x") }
        try await bench([challenges]).run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: policy)) == "secret")
        }
        try await bench([]).run { bench async throws in
            await #expect(throws: ErrandError.statusNotAccepted) {
                try await bench.client.run(GetCached(cache: policy))
            }
        }
    }
}
