import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Trouble: Error {}

/// What those outside see of a `transform` that fails.
@Suite(.timeLimit(.minutes(20))) struct AroundTransformTests {
    /// Fails for a body that does not begin with `#`.
    private struct Decrypting: TransformingInterceptor {
        func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
            let body = response.body.bytes
            guard body.first == UInt8(ascii: "#") else { throw Trouble() }
            return response.replacing(body: Array(body.dropFirst()))
        }
    }

    private static let passing = Around { request, _, next in try await next(request) }

    /// Error pages are not encrypted: a refused credential is refreshed nevertheless.
    @Test(arguments: [false, true]) func aRefreshIsOutside(hasOthers: Bool) async throws {
        let authenticator = TestAuthenticator()
        let stub = StubTransport { request in
            request.headers[.authorization] == "t1"
                ? .response(status: 200, body: "#secret") : .response(status: 401, body: "who are you?")
        }
        let others: [any Interceptor] = hasOthers ? [Self.passing, Self.passing] : []
        let authentication: any Interceptor = AuthenticationInterceptor(authenticator, credential: "t0")
        let decrypting: any Interceptor = Decrypting()
        let client = Client.stubbed(stub) { $0.interceptors = [authentication] + others + [decrypting] }
        #expect(try await client.run(GetAround()) == "secret")
        #expect(stub.submitted.map { $0.headers[.authorization] } == ["t0", "t1"])
        #expect(authenticator.count == 1)
        await client.shutdown()
    }

    @Test func aChallengeIsAnsweredOutside() async throws {
        let challenges = ChallengeInterceptor { _ in .bearer("t") }
        let stub = StubTransport { request in
            request.headers[.authorization] == nil
                ? .response(status: 401, headers: [.wwwAuthenticate: "Bearer realm=\"a\""], body: "who are you?")
                : .response(status: 200, body: "#secret")
        }
        let client = Client.stubbed(stub) { $0.interceptors = [challenges, Decrypting()] }
        #expect(try await client.run(GetAround()) == "secret")
        #expect(stub.submitted.count == 2)
        await client.shutdown()
    }

    /// `replays` gets what the `transform` got. The error stays the result.
    @Test func replaysSeesTheResponse() async throws {
        struct Watching: ReplayingInterceptor {
            let seen: Notes<String>
            func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
                guard case .response(let response) = result else {
                    seen.add("failure")
                    return false
                }
                seen.add(try response.text())
                return false
            }
        }
        let seen = Notes<String>()
        let client = Client.stubbed(statuses(200)) {
            $0.interceptors = [Watching(seen: seen), Watching(seen: seen), Decrypting()]
        }
        guard case .failure(let error) = await client.result(of: GetAround()) else {
            Issue.record("it succeeded")
            return
        }
        #expect(error == .interceptionFailed)
        #expect(error.underlyingError is Trouble)
        #expect(seen.all == ["200", "200"])
        await client.shutdown()
    }

    /// An error that was caught is over: another error, even of the same kind, is the result of the run.
    @Test(arguments: [ErrandError.authenticationFailed, .interceptionFailed])
    func anErrorThatWasCaughtIsOver(other: ErrandError) async throws {
        let strict = Around { request, _, next in
            guard case .failure(.interceptionFailed) = await next.result(of: request) else { throw Trouble() }
            throw other
        }
        let client = Client.stubbed(statuses(502)) { $0.interceptors = [strict, Decrypting()] }
        guard case .failure(let error) = await client.result(of: GetAround()) else {
            Issue.record("it succeeded")
            return
        }
        #expect(error == other)
        #expect(error.underlyingError == nil)
        #expect(error.statusCode == 502)
        await client.shutdown()
    }

    /// The same error on its way out is that of the `transform` still.
    @Test func anErrorThatIsPassedOnIsNot() async throws {
        let client = Client.stubbed(statuses(502)) { $0.interceptors = [Self.passing, Self.passing, Decrypting()] }
        guard case .failure(let error) = await client.result(of: GetAround()) else {
            Issue.record("it succeeded")
            return
        }
        #expect(error == .statusNotAccepted)
        #expect((error.underlyingError as? ErrandError)?.underlyingError is Trouble)
        await client.shutdown()
    }
}
