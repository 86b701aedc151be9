import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel
@testable import ErrandResilience

/// ``AltServiceTransport`` over a stub, on a manual clock.
@Suite struct AltServiceTransportTests {
    private struct Fixture {
        let clock = ManualClock()
        let stub = StubTransport(delivery: .immediate) { _ in .hold }
        let cache: AltServiceCache
        let transport: AltServiceTransport

        init(_ value: String? = "h2=\"alt.test:444\"", connection: ConnectionOptions = Self.http2) {
            cache = AltServiceCache(clock: clock)
            if let value { cache.learn([value], from: "https://a:443", overFaultlessTLS: true) }
            transport = AltServiceTransport(stub, cache, stopwatch: Stopwatch(clock), connection: connection)
        }

        static let http2 = ConnectionOptions(httpVersion: .http2OverTLS)

        func submit(
            _ url: String = "https://a/", _ change: (inout RequestDescription) throws -> Void = { _ in }
        ) throws -> (CallReceiver, TransferID) {
            var description = try ResilientFixture.description(url: url)
            try change(&description)
            let receiver = CallReceiver(callbacks: .inline())
            return (receiver, try transport.submit(description, for: receiver))
        }

        /// Where each attempt went; `-` is the origin.
        var places: [String] { stub.submitted.map { $0.settings.connection?.connectTo ?? "-" } }

        /// Ends the attempt in flight.
        func end(_ result: TransferResult) throws {
            let id = try #require(stub.open.first)
            #expect(stub.complete(id, with: result))
        }

        func end(status: Int, headers: HTTPFields = [:]) throws {
            try end(.response(Response(statusCode: status, headers: headers)))
        }
    }

    @Test func anAlternativeAnswers() throws {
        let fixture = Fixture()
        let (receiver, id) = try fixture.submit()
        #expect(fixture.places == ["alt.test:444"] && fixture.stub.open != [id])
        let sent = try #require(fixture.stub.submitted.first)
        let altUsed = try #require(AltServiceTransport.altUsed)
        #expect(sent.url == "https://a/" && sent.headers[altUsed] == "alt.test:444")
        #expect(sent.settings.connection?.httpVersion == .http2OverTLS)
        try fixture.end(status: 200)
        #expect(receiver.events.all == ["200"])
        #expect(fixture.cache.services(of: "https://a:443").count == 1)
        // An order for a call that has ended goes nowhere.
        fixture.transport.cancel(id)
        fixture.transport.grant(id, bytes: 1)
    }

    @Test(arguments: [
        ErrandError.connectFailed, .resolveFailed, .timeoutConnect, .tlsFailed, .tlsUntrusted, .tlsPinMismatch,
        .addressRefused,
    ])
    func theOriginAnswersInstead(error: ErrandError) throws {
        let fixture = Fixture()
        let (receiver, id) = try fixture.submit()
        try fixture.end(.failure(error))
        #expect(fixture.places == ["alt.test:444", "-"] && receiver.events.all.isEmpty)
        // The alternative has got nothing, so this is the first send.
        #expect(receiver.resends.all.isEmpty)
        let altUsed = try #require(AltServiceTransport.altUsed)
        #expect(fixture.stub.submitted.last?.headers[altUsed] == nil)
        fixture.transport.cancel(id)
        #expect(receiver.events.all == ["cancelled"])
        // For five minutes nobody goes there.
        _ = try fixture.submit()
        #expect(fixture.places == ["alt.test:444", "-", "-"])
        fixture.clock.advance(by: .seconds(301))
        _ = try fixture.submit()
        #expect(fixture.places.last == "alt.test:444")
    }

    /// The request may have been sent, so the failure stands. The next request goes to the origin, unless the failure
    /// says nothing about the alternative.
    @Test(arguments: [
        ErrandError.connectionLost, .sendFailed, .receiveFailed, .partialBody, .timeoutFirstByte, .timeoutTotal,
        .outOfDescriptors, .protocolError, .queueFull,
    ])
    func aFailureThatStands(error: ErrandError) throws {
        let fixture = Fixture()
        let (receiver, _) = try fixture.submit()
        try fixture.end(.failure(error))
        #expect(receiver.events.all == [error.shortDescription] && fixture.places.count == 1)
        let isLocal = error == .outOfDescriptors || error == .queueFull
        #expect(fixture.cache.services(of: "https://a:443").count == (isLocal ? 1 : 0))
    }

    @Test func bothFail() throws {
        let fixture = Fixture()
        let (receiver, _) = try fixture.submit()
        try fixture.end(.failure(.connectFailed))
        try fixture.end(.failure(.connectFailed))
        #expect(receiver.events.all == ["connectFailed"] && fixture.places.count == 2)
    }

    @Test func misdirected() throws {
        let fixture = Fixture()
        let (receiver, _) = try fixture.submit()
        try fixture.end(status: 421)
        #expect(fixture.places == ["alt.test:444", "-"] && receiver.events.all.isEmpty)
        // The origin's own 421 stands.
        try fixture.end(status: 421)
        #expect(receiver.events.all == ["421"] && receiver.resends.all == ["alternative"])
    }

    /// The guard of a command says nothing about the alternative for others.
    @Test(arguments: [true, false]) func whatTheGuardOfACommandRefuses(isOwn: Bool) throws {
        let fixture = Fixture()
        let (receiver, _) = try fixture.submit("https://a/") {
            if isOwn { $0.resilience = RequestResilience(addressGuard: .own(AddressGuard())) }
        }
        try fixture.end(.failure(.addressRefused))
        #expect(fixture.places == ["alt.test:444", "-"])
        #expect(fixture.cache.services(of: "https://a:443").count == (isOwn ? 1 : 0))
        try fixture.end(status: 200)
        #expect(receiver.events.all == ["200"])
    }

    /// The origin's attempt is accepted, and then refused.
    @Test(arguments: [true, false]) func theOriginsAttemptIsNotSent(wasSent: Bool) throws {
        let fixture = Fixture()
        let (receiver, _) = try fixture.submit()
        if wasSent { try fixture.end(status: 421) } else { try fixture.end(.failure(.connectFailed)) }
        try fixture.end(.failure(ErrandError.addressRefused.refused))
        #expect(receiver.resends.all == (wasSent ? ["alternative", "not alternative"] : []))
        #expect(receiver.error == .addressRefused && receiver.error?.isRefusal == !wasSent)
    }

    @Test func theTimeThatIsLeft() throws {
        let fixture = Fixture()
        let total = { (description: inout RequestDescription) throws in
            description.settings = try description.settings.with(total: .seconds(10))
        }
        _ = try fixture.submit("https://a/", total)
        fixture.clock.advance(by: .seconds(4))
        try fixture.end(.failure(.connectFailed))
        #expect(fixture.stub.submitted.last?.settings.timeouts.total?.duration == .seconds(6))
        let late = Fixture()
        let (receiver, _) = try late.submit("https://a/", total)
        late.clock.advance(by: .seconds(10))
        try late.end(.failure(.connectFailed))
        #expect(receiver.events.all == ["timeoutTotal"] && late.places.count == 1)
    }

    @Test func aCancelledCallGoesNowhereElse() throws {
        let fixture = Fixture()
        let (receiver, id) = try fixture.submit()
        fixture.transport.pause(id)
        fixture.transport.resume(id)
        fixture.transport.cancel(id)
        #expect(receiver.events.all == ["cancelled"] && fixture.places.count == 1)
    }

    @Test func aShutdown() async throws {
        let fixture = Fixture()
        let (receiver, _) = try fixture.submit()
        let stopped = Notes<Bool>()
        fixture.transport.shutdown { stopped.add(true) }
        #expect(receiver.events.all == ["cancelled"] && fixture.places.count == 1)
        try await waitUntil("the transport has stopped") { stopped.all == [true] }
        #expect(throws: ErrandError.shutDown) { try fixture.submit() }
    }

    @Test(arguments: [
        ("http://a/", "h2=\":444\""), ("https://b/", "h2=\":444\""), ("https://a/", "h3=\":444\""),
        ("https://a/", "h2=\":443\""), ("https://a/", "h2=\"a:443\""), ("https://a/", "clear"),
    ])
    func theOriginIsUsed(url: String, value: String) throws {
        let fixture = Fixture(value)
        _ = try fixture.submit(url)
        #expect(fixture.places == ["-"])
    }

    @Test func optionsThatUseNoAlternative() throws {
        for options in [
            ConnectionOptions(httpVersion: .http1), ConnectionOptions(httpVersion: .http2PriorKnowledge),
            ConnectionOptions(httpVersion: .http2OverTLS, proxy: .url("http://proxy")),
            ConnectionOptions(httpVersion: .http2OverTLS, unixSocketPath: "/tmp/socket"),
            ConnectionOptions(httpVersion: .http2OverTLS, tls: .init(insecureAcceptAnyCertificate: true)),
        ] {
            let fixture = Fixture(connection: options)
            _ = try fixture.submit()
            #expect(fixture.places == ["-"])
        }
        // Over HTTP/1.1 where the server says so, and the first of several that can be used.
        let fixture = Fixture(
            "h3=\":1\", http%2F1.1=\":8443\", h2=\":444\"", connection: ConnectionOptions(httpVersion: .http1))
        _ = try fixture.submit()
        #expect(fixture.places == ["a:8443"])
    }

    @Test func responsesTeach() throws {
        let fixture = Fixture(nil)
        let name: HTTPField.Name = "Alt-Svc"
        for (status, fields, count) in [
            (200, [name: "h2=\":444\"; ma=60", .age: "60"], 0), (421, [name: "h2=\":444\""], 0),
            (200, [name: "h2=\":444\"; ma=60", .age: "1"], 1), (200, [:], 1), (200, [name: "clear"], 0),
        ] as [(Int, HTTPFields, Int)] {
            _ = try fixture.submit()
            try fixture.end(status: status, headers: fields)
            #expect(fixture.cache.services(of: "https://a:443").count == count)
        }
    }

    @Test func theConfiguration() {
        var configuration = Client.Configuration()
        let cache = AltServiceCache()
        configuration.resilience = Resilience()
        configuration.altServices = cache
        configuration.hsts = HSTSStore()
        #expect(configuration.altServices === cache)
        #expect(
            configuration.layers.sorted { $0.position < $1.position }.map { "\(type(of: $0))" } == [
                "HSTSLayer", "AltServiceLayer", "ResilienceLayer",
            ])
        configuration.altServices = AltServiceCache()
        #expect(
            configuration.layers.sorted { $0.position < $1.position }.map { "\(type(of: $0))" } == [
                "HSTSLayer", "AltServiceLayer", "ResilienceLayer",
            ])
        configuration.altServices = nil
        #expect(configuration.layers.count == 2 && configuration.altServices == nil)
    }

    private struct Signer: AttemptSigner {
        var failure: ErrandError?

        func sign(_ attempt: inout SignableAttempt) throws {
            if let failure { throw failure }
            try attempt.headers.set(.authorization, to: "\(attempt.number)")
        }
    }

    private static func signed(_ stub: StubTransport, _ signer: Signer) -> AltServiceTransport {
        let clock = ManualClock()
        let cache = AltServiceCache(clock: clock)
        cache.learn(["h2=\"alt.test:444\""], from: "https://a:443", overFaultlessTLS: true)
        return AltServiceTransport(
            SigningTransport(stub, signer), cache, stopwatch: Stopwatch(clock), connection: Fixture.http2)
    }

    /// What the signer refuses says nothing about the alternative.
    @Test func aSignerThatRefuses() throws {
        let stub = StubTransport(delivery: .immediate) { _ in .hold }
        let transport = Self.signed(stub, Signer(failure: .invalidOption))
        let description = try ResilientFixture.description(url: "https://a/")
        let receiver = CallReceiver(callbacks: .inline())
        #expect(throws: ErrandError.invalidOption) { try transport.submit(description, for: receiver) }
        #expect(stub.submitted.isEmpty && transport.cache?.services(of: "https://a:443").count == 1)
    }

    /// The attempt at the origin has a signature of its own.
    @Test func theOriginGetsAnotherSignature() throws {
        let stub = StubTransport(delivery: .immediate) { _ in .hold }
        let transport = Self.signed(stub, Signer())
        let description = try ResilientFixture.description(url: "https://a/")
        _ = try transport.submit(description, for: CallReceiver(callbacks: .inline()))
        let id = try #require(stub.open.first)
        #expect(stub.complete(id, with: .failure(.connectFailed)))
        #expect(stub.submitted.map { $0.headers[.authorization] } == ["1", "2"])
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
    }
}
