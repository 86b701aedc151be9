import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// ``Client/Configuration/attemptSigner``: each attempt has a signature of its own.
@Suite struct AttemptSignerTests {
    private struct Trouble: Error {}

    /// Signs with the number and the URL of the attempt.
    private struct Numbers: AttemptSigner {
        var failure: (any Error)?

        func sign(_ attempt: inout SignableAttempt) throws {
            if let failure { throw failure }
            try attempt.headers.set(.authorization, to: "\(attempt.number) \(attempt.method.rawValue) \(attempt.url)")
        }
    }

    private static let quick = RetryPolicy(backoff: RetryBackoff(base: .zero))

    private static func signatures(_ stub: StubTransport) -> [String?] {
        stub.submitted.map { $0.headers[.authorization] }
    }

    /// The signature is over the endpoint's URL, and a retry has another one.
    @Test func eachAttemptIsSigned() async throws {
        let statuses = Mutex([503, 200, 200])
        let stub = StubTransport { _ in .response(status: statuses.withLock { $0.removeFirst() }, body: "ok") }
        let endpoints = try [Endpoint("http://one"), Endpoint("http://two")]
        let service = try ServiceEndpoints(of: "http://test/", .list(endpoints), policy: EndpointPolicy(.roundRobin))
        let client = Client.stubbed(stub) {
            $0.resilience = Resilience(retry: Self.quick)
            $0.endpoints = [service]
            $0.attemptSigner = Numbers()
        }
        #expect(try await client.run(GetText()) == "ok")
        #expect(Self.signatures(stub) == ["1 GET http://one:80/text", "2 GET http://two:80/text"])
        // What the request shows is not signed.
        let request = client.request(GetText())
        await withCheckedContinuation { done in _ = request.start { _ in done.resume() } }
        let shown = try #require(request.transferDescription)
        #expect(shown.headers[.authorization] == nil && stub.submitted.count == 3)
        await client.shutdown()
    }

    /// Retries are numbered without endpoints too. A redirect is a transfer of its own.
    @Test func redirectsAreSignedAnew() async throws {
        let answers = Mutex<[StubTransport.Answer]>([
            .response(status: 503), .response(status: 302, headers: [.location: "/next"]), .response(status: 200),
        ])
        let stub = StubTransport { _ in answers.withLock { $0.removeFirst() } }
        let client = Client.stubbed(stub) {
            $0.resilience = Resilience(retry: Self.quick)
            $0.attemptSigner = Numbers()
        }
        _ = try await client.run(GetRaw())
        #expect(
            Self.signatures(stub) == [
                "1 GET http://test/raw", "2 GET http://test/raw", "1 GET http://test/next",
            ])
        await client.shutdown()
    }

    /// Signs everywhere.
    private struct Everywhere: AttemptSigner {
        var signsOtherOrigins: Bool { true }

        func sign(_ attempt: inout SignableAttempt) throws {
            try attempt.headers.set(.authorization, to: "\(attempt.hasLeftOrigin) \(attempt.url)")
        }
    }

    private struct Elsewhere: Interceptor {
        func intercept(
            _ request: RequestDescription, in context: InterceptionContext, next: Next
        ) async throws -> Response {
            var request = request
            request.url = "http://other/raw"
            return try await next(request)
        }
    }

    /// The server that redirects does not choose who gets a signature, nor what is signed when another server redirects
    /// back.
    @Test func anotherOriginGetsNoSignature() async throws {
        for signsAll in [false, true] {
            let stub = StubTransport { sent in
                switch sent.url {
                case "http://test/raw": .response(status: 302, headers: [.location: "http://other/a"])
                case "http://other/a": .response(status: 302, headers: [.location: "http://test/b"])
                default: .response(status: 200)
                }
            }
            let client = Client.stubbed(stub) {
                if signsAll { $0.attemptSigner = Everywhere() } else { $0.attemptSigner = Numbers() }
            }
            _ = try await client.run(GetRaw())
            #expect(stub.submitted.map(\.url) == ["http://test/raw", "http://other/a", "http://test/b"])
            let all: [String?] = ["false http://test/raw", "true http://other/a", "true http://test/b"]
            #expect(Self.signatures(stub) == (signsAll ? all : ["1 GET http://test/raw", nil, nil]))
            await client.shutdown()
        }
        let stub = StubTransport { _ in .response(status: 200) }
        let client = Client.stubbed(stub) {
            $0.interceptors = [Elsewhere()]
            $0.attemptSigner = Numbers()
        }
        _ = try await client.run(GetRaw())
        #expect(stub.submitted.map(\.url) == ["http://other/raw"] && Self.signatures(stub) == [nil])
        await client.shutdown()
    }

    /// Two hedges may be sent at once, and an attempt that was refused leaves its number unused.
    @Test func noTwoAttemptsHaveOneNumber() throws {
        let stub = StubTransport(delivery: .immediate) { _ in .response(status: 200) }
        let transport = SigningTransport(stub, Numbers())
        let trail = AttemptTrail(hedgeDelay: .milliseconds(1))
        var description = try ResilientFixture.description()
        description.trail = trail
        for _ in 0..<2 { _ = trail.attemptSent(at: .zero) }
        for count in 0..<3 {
            if count == 2 { trail.attemptRefused() }
            _ = try transport.submit(description, for: CallReceiver(callbacks: .inline()))
        }
        #expect(Self.signatures(stub) == ["1 GET http://a/", "2 GET http://a/", "3 GET http://a/"])
    }

    private struct Bodies: AttemptSigner {
        let seen = Notes<[UInt8]?>()

        func sign(_ attempt: inout SignableAttempt) throws { seen.add(attempt.bodyBytes) }
    }

    /// A body that is not in memory is not signed as if it were empty.
    @Test func bodies() throws {
        let signer = Bodies()
        let transport = SigningTransport(StubTransport(delivery: .immediate) { _ in .response(status: 200) }, signer)
        let bodies: [RequestDescription.Body] = [
            .none, .bytes([1, 2]), .file(path: "/tmp/none", offset: 0, length: 1), .stream(length: 1),
        ]
        for body in bodies {
            var description = try ResilientFixture.description(.post)
            description.body = body
            _ = try transport.submit(description, for: CallReceiver(callbacks: .inline()))
        }
        #expect(signer.seen.all == [[], [1, 2], nil, nil])
    }

    /// Without resilience, and after the upgrade to https.
    @Test func theURLThatIsSentIsSigned() throws {
        let stub = StubTransport(delivery: .immediate) { _ in .response(status: 200) }
        let store = HSTSStore(preloads: [.init("a")])
        let transport = HSTSTransport(SigningTransport(stub, Numbers()), store, connection: ConnectionOptions())
        let receiver = CallReceiver(callbacks: .inline())
        _ = try transport.submit(ResilientFixture.description(), for: receiver)
        #expect(Self.signatures(stub) == ["1 GET https://a/"] && receiver.events.all == ["200"])
    }

    @Test func anAttemptThatIsNotSignedIsNotSent() async throws {
        let cases: [(failure: any Error, expected: ErrandError)] = [
            (Trouble(), .interceptionFailed), (ErrandError.connectFailed, .connectFailed),
        ]
        for (failure, expected) in cases {
            let stub = StubTransport { _ in .response(status: 200) }
            let client = Client.stubbed(stub) {
                $0.resilience = Resilience(
                    retry: Self.quick, breaker: BreakerPolicy(window: .count(4), minimumCalls: 1))
                $0.attemptSigner = Numbers(failure: failure)
            }
            let error = await #expect(throws: expected) { try await client.run(GetRaw()) }
            #expect(error?.isRefusal == true && stub.submitted.isEmpty)
            #expect(client.resilience?.counts.attempts == 0 && client.resilience?.counts.retries.isEmpty == true)
            #expect(client.resilience?.breakers?.breaker(for: "http://test:80").state == .closed)
            await client.shutdown()
        }
    }

    @Test func theConfiguration() {
        var configuration = Client.Configuration()
        configuration.hsts = HSTSStore()
        configuration.attemptSigner = Numbers()
        #expect(configuration.attemptSigner is Numbers)
        let order = configuration.layers.sorted { $0.position < $1.position }.map { "\(type(of: $0))" }
        #expect(order == ["SigningLayer", "HSTSLayer"])
        configuration.attemptSigner = nil
        #expect(configuration.layers.count == 1)
    }
}
