import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandAuthentication
@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel

/// The authentication interceptor within requests, on a stub.
@Suite struct AuthenticationClientTests {
    private static let many = 1000

    private func stub(_ delivery: StubTransport.Delivery = .asynchronous, valid: String) -> StubTransport {
        StubTransport(delivery: delivery) { request in
            .response(status: request.headers[.authorization] == valid ? 200 : 401, body: "text")
        }
    }

    @Test(.timeLimit(.minutes(20)), arguments: [StubTransport.Delivery.asynchronous, .immediate])
    func aThousandRefusalsCauseOneRefresh(delivery: StubTransport.Delivery) async throws {
        let authenticator = TestAuthenticator()
        let stub = stub(delivery, valid: "t1")
        let client = Client.stubbed(stub) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "t0")]
        }
        let failures = Notes<ErrandError>()
        await withTaskGroup { group in
            for number in 0..<Self.many {
                group.addTask {
                    if number.isMultiple(of: 2) {
                        if case .failure(let error) = await client.result(of: GetText()) { failures.add(error) }
                    } else {
                        await withCheckedContinuation { continuation in
                            client.start(GetText()) { request in
                                if let error = request.error { failures.add(error) }
                                continuation.resume()
                            }
                        }
                    }
                }
            }
        }
        #expect(failures.all.isEmpty)
        #expect(authenticator.count == 1)
        let sent = stub.submitted.map { $0.headers[.authorization] }
        #expect(sent.count { $0 == "t1" } == Self.many)
        #expect(sent.count <= 2 * Self.many)
        await client.shutdown()
    }

    @Test func aFailedRefreshIsToldWithTheResponse() async throws {
        let authenticator = TestAuthenticator { number, _, _ in throw RefreshTrouble(number: number) }
        let client = Client.stubbed(stub(valid: "t1")) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "t0")]
        }
        guard case .failure(let error) = await client.result(of: GetText()) else {
            return #expect(Bool(false), "it succeeded")
        }
        #expect(error == .authenticationFailed)
        #expect(error.statusCode == 401)
        #expect(error.underlyingError as? RefreshTrouble == RefreshTrouble(number: 1))
        await client.shutdown()
    }

    /// The refresh uses the client that waits for it, in all the ways that there are.
    @Test(
        .timeLimit(.minutes(20)),
        arguments: [
            ("run", 1), ("start", 1), ("child", 1), ("task", 1), ("chain", 2), ("again", 2), ("batch", 3), ("graph", 2),
            ("groups", 4),
        ])
    func theRefreshMayUseTheSameClient(way: String, count: Int) async throws {
        let box = Mutex<Client?>(nil)
        let authenticator = TestAuthenticator { number, _, _ in
            guard let client = box.withLock({ $0 }) else { throw RefreshTrouble(number: number) }
            // A status of 401 here must neither be waited for nor replayed.
            let status: Int
            switch way {
            case "run": status = try await client.run(RawCommand(url: "token")).statusCode
            case "start":
                status = await withCheckedContinuation { continuation in
                    client.start(RawCommand(url: "token")) {
                        continuation.resume(returning: $0.response?.statusCode ?? 0)
                    }
                }
            case "child":
                async let response = client.run(RawCommand(url: "token"))
                status = try await response.statusCode
            // Of groups all but the first child are started by the callback queue, or by a timer.
            case "chain":
                let results = try await client.run(Chain([Self.token, Self.token]))
                status = try results.lastValue(as: Response.self).statusCode
            case "again":
                let again = ChainStep(RawCommand(url: "token")) { turn in
                    if turn.runs < 2 { turn.again(after: .milliseconds(1)) }
                }
                status = try await client.run(Chain([again])).lastValue(as: Response.self).statusCode
            case "batch":
                let commands = Array(repeating: RawCommand(url: "token"), count: 3)
                status = try await client.run(Batch(commands, maxConcurrent: 1)).values.last?.statusCode ?? 0
            case "graph":
                let graph = RequestGraph([
                    .init("a", RawCommand(url: "token")), .init("b", after: ["a"], RawCommand(url: "token")),
                ])
                status = try await client.run(graph).value(named: "b", as: Response.self).statusCode
            case "groups":
                let inner = ChainStep(Chain([Self.token, Self.token]))
                let entries = try await client.run(Chain([inner, inner])).entries
                status = entries.count == 2 ? 401 : 0
            default: status = try await Task { try await client.run(RawCommand(url: "token")).statusCode }.value
            }
            #expect(status == 401)
            return "t\(number)"
        }
        let stub = stub(valid: "t1")
        let client = Client.stubbed(stub) {
            $0.interceptors = [AuthenticationInterceptor(patient: authenticator, credential: "t0")]
        }
        box.withLock { $0 = client }
        let value = try await client.run(GetText())
        #expect(value == "text")
        let urls = ["http://test/text"] + Array(repeating: "http://test/token", count: count) + ["http://test/text"]
        #expect(stub.submitted.map(\.url) == urls)
        let none: [String?] = Array(repeating: nil, count: count)
        let sent: [String?] = ["t0"] + none + ["t1"]
        #expect(stub.submitted.map { $0.headers[.authorization] } == sent)
        #expect(authenticator.count == 1)
        box.withLock { $0 = nil }
        await client.shutdown()
    }

    private static var token: ChainStep { ChainStep(RawCommand(url: "token")) }

    private static func end(of chain: Request<Chain<GroupResults>>) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            chain.start(completion: { _ in continuation.resume() })
        }
    }

    /// A group's next run has nothing of the refresh that the last one belonged to.
    @Test(.timeLimit(.minutes(20)))
    func aGroupThatIsStartedAgainIsAuthenticated() async throws {
        let box = Mutex<Request<Chain<GroupResults>>?>(nil)
        let authenticator = TestAuthenticator { number, _, _ in
            guard let chain = box.withLock({ $0 }) else { throw RefreshTrouble(number: number) }
            await Self.end(of: chain)
            return "t\(number)"
        }
        let stub = stub(valid: "t1")
        let client = Client.stubbed(stub) {
            $0.interceptors = [AuthenticationInterceptor(patient: authenticator, credential: "t0")]
        }
        let chain = client.request(Chain([Self.token, Self.token]))
        box.withLock { $0 = chain }
        _ = try await client.run(GetText())
        await Self.end(of: chain)
        #expect(stub.submitted.map { $0.headers[.authorization] } == ["t0", nil, nil, "t1", "t1", "t1"])
        box.withLock { $0 = nil }
        await client.shutdown()
    }

    /// An inline queue runs the callbacks of a group in the task of a refresh. The group's next child is not a part of
    /// the refresh.
    @Test(.timeLimit(.minutes(20)))
    func aGroupThatARefreshHappensToDriveIsAuthenticated() async throws {
        let box = Mutex<Client?>(nil)
        let stub = StubTransport(delivery: .immediate) { request in
            if request.url.hasSuffix("first") { return .hold }
            let isAccepted = request.url.hasSuffix("token") || request.headers[.authorization] == "t1"
            return .response(status: isAccepted ? 200 : 401, body: "text")
        }
        let authenticator = TestAuthenticator { number, _, _ in
            guard let client = box.withLock({ $0 }) else { throw RefreshTrouble(number: number) }
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                client.start(RawCommand(url: "token")) { _ in
                    // The thread that runs this handles the end of the group's first child.
                    stub.completeAll { _ in .response(Response(statusCode: 200)) }
                    continuation.resume()
                }
            }
            return "t\(number)"
        }
        let client = Client.stubbed(stub) {
            $0.callbackQueue = .inline()
            $0.interceptors = [AuthenticationInterceptor(patient: authenticator, credential: "t0")]
        }
        box.withLock { $0 = client }
        let steps = [ChainStep(RawCommand(url: "first")), ChainStep(RawCommand(url: "second"))]
        let group = Task { try await client.run(Chain(steps)) }
        try await waitUntil("the first child was sent") { !stub.open.isEmpty }
        #expect(try await client.run(GetText()) == "text")
        _ = try await group.value
        let second = stub.submitted.filter { $0.url.hasSuffix("second") }
        #expect(second.map { $0.headers[.authorization] } == ["t1"])
        box.withLock { $0 = nil }
        await client.shutdown()
    }

    @Test(.timeLimit(.minutes(20)))
    func aRequestThatWaitsIsStoppedAtOnce() async throws {
        let gate = Gate()
        let authenticator = TestAuthenticator { number, _, _ in
            await gate.pass()
            return "t\(number)"
        }
        let client = Client.stubbed(stub(valid: "t1")) {
            $0.interceptors = [AuthenticationInterceptor(patient: authenticator, credential: "t0")]
        }
        let stopped = Task { try await client.run(GetText()) }
        let other = Task { try await client.run(GetText()) }
        await gate.arrivals(1)
        stopped.cancel()
        await #expect(throws: CancellationError.self) { try await stopped.value }
        await gate.open()
        let value = try await other.value
        #expect(value == "text")
        #expect(authenticator.count == 1)
        await client.shutdown()
    }

    @Test(.timeLimit(.minutes(20)))
    func theTotalTimeoutEndsTheWaiting() async throws {
        let gate = Gate()
        let authenticator = TestAuthenticator { number, _, _ in
            await gate.pass()
            return "t\(number)"
        }
        let client = Client.stubbed(stub(valid: "t1")) {
            $0.interceptors = [AuthenticationInterceptor(patient: authenticator, credential: "t0")]
        }
        var command = RawCommand(url: "x")
        command.timeouts = Timeouts(total: .milliseconds(50))
        guard case .failure(let error) = await client.result(of: command) else {
            return #expect(Bool(false), "it succeeded")
        }
        #expect(error == .timeoutTotal)
        await gate.open()
        let value = try await client.run(GetText())
        #expect(value == "text")
        #expect(authenticator.count == 1)
        await client.shutdown()
    }

    /// A refusal leads to a refresh that takes longer than the task has. The deadline ends the request, not the refresh.
    @Test(.timeLimit(.minutes(20)), arguments: [true, false])
    func theDeadlineOfTheTaskEndsTheWaiting(hasResilience: Bool) async throws {
        let gate = Gate()
        let clock = ManualClock()
        let authenticator = TestAuthenticator { number, _, _ in
            await gate.pass()
            return "t\(number)"
        }
        let stub = stub(valid: "t1")
        let client = Client.stubbed(stub) {
            $0.clock = clock
            $0.interceptors = [AuthenticationInterceptor(patient: authenticator, credential: "t0")]
            if hasResilience { $0.resilience = .standard } else { $0.obeysDeadlines = true }
        }
        let failures = Notes<ErrandError>()
        let task = Task {
            await Deadline.limit(to: .after(.seconds(3_600))) {
                if case .failure(let error) = await client.result(of: GetText()) { failures.add(error) }
            }
        }
        await gate.arrivals(1)
        try await waitUntil("the deadline has ended the request") {
            clock.advance(by: .seconds(3_600))
            return !failures.all.isEmpty
        }
        await task.value
        #expect(failures.all == [.timeoutTotal] && failures.all.first?.statusCode == 401)
        #expect(stub.submitted.count == 1)
        await gate.open()
        let value = try await client.run(GetText())
        #expect(value == "text" && authenticator.count == 1)
        await client.shutdown()
    }

    @Test(.timeLimit(.minutes(20)))
    func aClientIsShutDownWhileItsRequestsWait() async throws {
        let gate = Gate()
        let authenticator = TestAuthenticator { number, _, _ in
            await gate.pass()
            return "t\(number)"
        }
        let client = Client.stubbed(stub(valid: "t1")) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "t0")]
        }
        let waiting = Task { await client.result(of: GetText()) }
        await gate.arrivals(1)
        await client.shutdown(.cancel)
        guard case .failure = await waiting.value else { return #expect(Bool(false), "it succeeded") }
        await gate.open()
    }

    @Test func aChallengeThatWasDeclinedIsAnError() async throws {
        let client = Client.stubbed(stub(valid: "t1")) { $0.interceptors = [ChallengeInterceptor { _ in .fail }] }
        guard case .failure(let error) = await client.result(of: GetText()) else {
            return #expect(Bool(false), "it succeeded")
        }
        #expect(error == .authenticationFailed)
        #expect(error.statusCode == 401)
        #expect(!error.isRefusal)
        await client.shutdown()
    }

    /// The refresh is a request of the same client, which drains: what runs may end, and so may what that needs.
    @Test(.timeLimit(.minutes(20))) func aDrainLetsARefreshThrough() async throws {
        let held = Notes<Client>()
        let authenticator = TestAuthenticator { _, _, _ in
            guard let client = held.all.first else { throw RefreshTrouble(number: 0) }
            return try await client.run(GetText(path: "refresh"))
        }
        let stub = StubTransport { request in
            switch (request.url.hasSuffix("refresh"), request.headers[.authorization]) {
            case (true, _): .response(status: 200, body: "t1")
            case (false, "t1"): .response(status: 200, body: "text")
            default: .hold
            }
        }
        let client = Client.stubbed(stub) {
            $0.interceptors = [AuthenticationInterceptor(patient: authenticator, credential: "t0")]
        }
        held.add(client)
        let task = Task { try await client.run(GetText()) }
        try await waitUntil("a transfer is open") { !stub.open.isEmpty }
        let shutdown = Task { await client.shutdown() }
        try await waitUntil("the client is shut down") { client.isShutDown }
        stub.completeAll { _ in .response(Response(statusCode: 401)) }
        #expect(try await task.value == "text")
        await shutdown.value
        await #expect(throws: ErrandError.shutDown) { _ = try await client.run(GetText()) }
    }
}
