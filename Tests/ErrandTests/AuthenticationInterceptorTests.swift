import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandAuthentication
@testable import ErrandModel

@Suite struct AuthenticationInterceptorTests {
    /// A server that takes `valid` alone.
    private func server(_ valid: String, seen: Notes<String?> = Notes()) -> (RequestDescription) -> Response {
        { request in
            seen.add(request.headers[.authorization])
            return Response(statusCode: request.headers[.authorization] == valid ? 200 : 401)
        }
    }

    @Test func theCredentialIsSent() async throws {
        let authenticator = TestAuthenticator()
        let run = InterceptedRun(interceptors: [AuthenticationInterceptor(authenticator, credential: "t0")])
        let status = try await run.status(server("t0"))
        #expect(status == 200)
        #expect(authenticator.count == 0)
    }

    @Test func theFirstCredentialIsFetched() async throws {
        let given = Notes<(String?, Int?)>()
        let authenticator = TestAuthenticator { number, credential, response in
            given.add((credential, response?.statusCode))
            return "t\(number)"
        }
        let interceptor = AuthenticationInterceptor(authenticator)
        #expect(interceptor.credential == nil)
        for _ in 0..<2 {
            let status = try await InterceptedRun(interceptors: [interceptor]).status(server("t1"))
            #expect(status == 200)
        }
        #expect(interceptor.credential == "t1")
        #expect(given.all.count == 1)
        #expect(given.all.first?.0 == nil && given.all.first?.1 == nil)
    }

    @Test func aRefusedCredentialIsRefreshed() async throws {
        let given = Notes<(String?, Int?)>()
        let authenticator = TestAuthenticator { number, credential, response in
            given.add((credential, response?.statusCode))
            return "t\(number)"
        }
        let seen = Notes<String?>()
        let run = InterceptedRun(interceptors: [AuthenticationInterceptor(authenticator, credential: "t0")])
        let status = try await run.status(server("t1", seen: seen))
        #expect(status == 200)
        #expect(seen.all == ["t0", "t1"])
        #expect(given.all.first?.0 == "t0")
        #expect(given.all.first?.1 == 401)
    }

    @Test func anExpiredCredentialIsNotSent() async throws {
        // Not even the fresh one is thought usable, which must not have it refreshed for ever.
        let authenticator = TestAuthenticator(expired: ["t0", "t1"])
        let seen = Notes<String?>()
        let interceptor = AuthenticationInterceptor(authenticator, credential: "t0")
        let status = try await InterceptedRun(interceptors: [interceptor]).status(server("t1", seen: seen))
        #expect(status == 200)
        #expect(seen.all == ["t1"])
        #expect(authenticator.count == 1)
    }

    /// With a credential that was refreshed because the old one was refused, had expired, or was not there.
    @Test(arguments: ["old", "expired", nil])
    func aFreshCredentialThatIsRefusedLetsTheResponseStand(credential: String?) async throws {
        let authenticator = TestAuthenticator(expired: ["expired"])
        let interceptor = AuthenticationInterceptor(authenticator, credential: credential)
        let seen = Notes<String?>()
        let status = try await InterceptedRun(interceptors: [interceptor]).status(server("none", seen: seen))
        #expect(status == 401)
        #expect(seen.all == (credential == "old" ? ["old", "t1"] : ["t1"]))
        #expect(authenticator.count == 1)
        // The next request has its own chance.
        let next = try await InterceptedRun(interceptors: [interceptor]).status(server("t2"))
        #expect(next == 200)
    }

    @Test func whoWasRefusedWithAnOlderCredentialIsSentAgainWithoutARefresh() async throws {
        let authenticator = TestAuthenticator()
        let interceptor = AuthenticationInterceptor(authenticator, credential: "t0")
        let late = InterceptedRun(interceptors: [interceptor])
        let sent = try await late.prepare()
        _ = try await InterceptedRun(interceptors: [interceptor]).status(server("t1"))
        #expect(authenticator.count == 1)
        let isReplayed = try await late.replays(after: .response(Response(statusCode: 401)), sent: sent)
        #expect(isReplayed)
        let again = try await late.prepare(1)
        #expect(again.headers[.authorization] == "t1")
        #expect(authenticator.count == 1)
        // Its chance is gone, unless there is a newer one already.
        let stands = try await late.replays(after: .response(Response(statusCode: 401)), 1, sent: again)
        #expect(!stands)
        interceptor.credential = "t2"
        let newer = try await late.replays(after: .response(Response(statusCode: 401)), 1, sent: again)
        #expect(newer)
        #expect(authenticator.count == 1)
    }

    @Test func whoHearsOfTheRefusalAfterTheRefreshFailedSharesItsError() async throws {
        let authenticator = TestAuthenticator { number, _, _ in throw RefreshTrouble(number: number) }
        let interceptor = AuthenticationInterceptor(authenticator, credential: "t0")
        let late = InterceptedRun(interceptors: [interceptor])
        let sent = try await late.prepare()
        for run in 0..<2 {
            await #expect(throws: ErrandError.authenticationFailed) {
                if run == 0 {
                    _ = try await InterceptedRun(interceptors: [interceptor]).status(self.server("t1"))
                } else {
                    _ = try await late.replays(after: .response(Response(statusCode: 401)), sent: sent)
                }
            }
            #expect(authenticator.count == 1)
        }
        // Prepared after the failure: tried anew.
        let error = await #expect(throws: ErrandError.self) { try await late.prepare() }
        #expect(error?.underlyingError as? RefreshTrouble == RefreshTrouble(number: 2))
        #expect(interceptor.credential == "t0")
    }

    @Test func responsesThatRefuseNothingStand() async throws {
        let authenticator = TestAuthenticator()
        let run = InterceptedRun(interceptors: [AuthenticationInterceptor(authenticator, credential: "t0")])
        let sent = try await run.prepare()
        for status in [200, 302, 400, 403, 407, 500] {
            let isReplayed = try await run.replays(after: .response(Response(statusCode: status)), sent: sent)
            #expect(!isReplayed, "\(status)")
        }
        let afterFailure = try await run.replays(after: .failure(.timeoutIdle), sent: sent)
        #expect(!afterFailure)
        #expect(authenticator.count == 0)
    }

    @Test func theRefusalOfAnotherOriginStands() async throws {
        let authenticator = TestAuthenticator()
        var run = InterceptedRun(interceptors: [AuthenticationInterceptor(authenticator, credential: "t0")])
        run.lastURL = "http://b/x"
        let elsewhere = try await run.status(server("t1"))
        #expect(elsewhere == 401)
        #expect(authenticator.count == 0)
        run.lastURL = "HTTP://A:80/login"
        let here = try await run.status(server("t1"))
        #expect(here == 200)
    }

    @Test func whatTheAuthenticatorLeavesOutIsSentWithout() async throws {
        let authenticator = TestAuthenticator(host: "//b/")
        let seen = Notes<String?>()
        let run = InterceptedRun(interceptors: [AuthenticationInterceptor(authenticator)])
        let status = try await run.status(server("t1", seen: seen))
        #expect(status == 401)
        #expect(seen.all == [nil])
        #expect(authenticator.count == 0)
    }

    @Test func aCredentialThatCannotBeSentIsAnError() async throws {
        let run = InterceptedRun(interceptors: [AuthenticationInterceptor(TestAuthenticator(), credential: "a\r\nb: c")]
        )
        await #expect(throws: ErrandError.invalidHeader) { try await run.prepare() }
    }

    @Test func twoInterceptorsOfOneTypeKeepTheirCredentialsApart() async throws {
        let outer = TestAuthenticator()
        let inner = TestAuthenticator(field: .proxyAuthorization) { number, _, _ in "p\(number)" }
        let run = InterceptedRun(interceptors: [
            AuthenticationInterceptor(outer, credential: "t9"), AuthenticationInterceptor(inner, credential: "p0"),
        ])
        let status = try await run.status { request in
            Response(statusCode: request.headers[.proxyAuthorization] == "p1" ? 200 : 401)
        }
        #expect(status == 200)
        #expect(inner.count == 1)
        #expect(outer.count == 0)
    }

    // MARK: From outside

    @Test func invalidateHasTheNextRequestRefresh() async throws {
        let authenticator = TestAuthenticator()
        let interceptor = AuthenticationInterceptor(authenticator, credential: "t0")
        interceptor.invalidate()
        #expect(interceptor.credential == "t0")
        let seen = Notes<String?>()
        let status = try await InterceptedRun(interceptors: [interceptor]).status(server("t1", seen: seen))
        #expect(status == 200)
        #expect(seen.all == ["t1"])
    }

    @Test(arguments: ["login", nil])
    func aCredentialSetFromOutsideOvertakesTheRefresh(credential: String?) async throws {
        let gate = Gate()
        let authenticator = TestAuthenticator { number, _, _ in
            await gate.pass()
            return "t\(number)"
        }
        let interceptor = AuthenticationInterceptor(patient: authenticator)
        let waiting = Task { try await InterceptedRun(interceptors: [interceptor]).prepare().headers[.authorization] }
        await gate.arrivals(1)
        interceptor.credential = credential
        if let credential {
            let sent = try await waiting.value
            #expect(sent == credential)
        } else {
            await #expect(throws: ErrandError.authenticationFailed) { try await waiting.value }
        }
        await gate.open()
        // What the overtaken refresh brings is not taken, whenever it comes.
        await allowTime(for: "a refresh too many")
        #expect(interceptor.credential == credential)
    }

    @Test func aLogoutLastsUntilALogin() async throws {
        let refreshes = Atomic<Int>(0)
        let authenticator = TestAuthenticator { number, _, _ in
            refreshes.add(1, ordering: .relaxed)
            return "t\(number)"
        }
        let interceptor = AuthenticationInterceptor(authenticator, credential: "a")
        interceptor.credential = nil
        for _ in 0..<3 {
            await #expect(throws: ErrandError.authenticationFailed) {
                try await InterceptedRun(interceptors: [interceptor]).prepare()
            }
        }
        #expect(refreshes.load(ordering: .relaxed) == 0)
        interceptor.credential = "b"
        let sent = try await InterceptedRun(interceptors: [interceptor]).prepare().headers[.authorization]
        #expect(sent == "b")
        interceptor.credential = nil
        interceptor.invalidate()
        let renewed = try await InterceptedRun(interceptors: [interceptor]).prepare().headers[.authorization]
        #expect(renewed == "t1")
    }

    // MARK: The refresh itself

    @Test func requestsOfTheRefreshGoWithoutACredential() async throws {
        let box = Mutex<AuthenticationInterceptor<TestAuthenticator>?>(nil)
        let inside = Notes<String?>()
        let statuses = Notes<Int>()
        let authenticator = TestAuthenticator { number, _, _ in
            let run = InterceptedRun(interceptors: box.withLock { $0 }.map { [$0] } ?? [], url: "http://a/token")
            let first = try await run.prepare()
            inside.add(first.headers[.authorization])
            // A replay may be prepared in a task that has not the locals of the one that started the request.
            let second = try await Task.detached { try await run.prepare(1) }.value
            inside.add(second.headers[.authorization])
            statuses.add(try await run.status { _ in Response(statusCode: 401) })
            return "t\(number)"
        }
        let interceptor = AuthenticationInterceptor(patient: authenticator, credential: "t0")
        box.withLock { $0 = interceptor }
        let status = try await InterceptedRun(interceptors: [interceptor]).status(server("t1"))
        #expect(status == 200)
        #expect(inside.all == [nil, nil])
        #expect(statuses.all == [401])
        #expect(authenticator.count == 1)
        box.withLock { $0 = nil }
    }

    @Test func anInterceptorWithinTheRefreshOfAnotherStillWorks() async throws {
        let inner = AuthenticationInterceptor(patient: TestAuthenticator { number, _, _ in "inner\(number)" })
        let outer = AuthenticationInterceptor(
            patient: TestAuthenticator { _, _, _ in
                try await InterceptedRun(interceptors: [inner]).prepare().headers[.authorization] ?? "none"
            })
        let sent = try await InterceptedRun(interceptors: [outer]).prepare()
        #expect(sent.headers[.authorization] == "inner1")
    }

    @Test func aRefreshThatHangsCountsAsFailed() async throws {
        let clock = ManualClock()
        let gate = Gate()
        let cancelled = Gate()
        let ended = Gate()
        let authenticator = TestAuthenticator { number, _, _ in
            if number > 1 { return "t\(number)" }
            await gate.pass()
            await withTaskCancellationHandler {
                await cancelled.pass()
            } onCancel: {
                Task { await cancelled.open() }
            }
            await ended.pass()
            return "late"
        }
        let interceptor = AuthenticationInterceptor(
            authenticator, credential: "t0", refreshTimeout: .seconds(5), clock: clock)
        let waiting = Task { try await InterceptedRun(interceptors: [interceptor]).status(self.server("t2")) }
        await gate.arrivals(1)
        await clock.sleepers(1)
        await gate.open()
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: ErrandError.self) { try await waiting.value }
        #expect(error == .authenticationFailed)
        #expect(error?.underlyingError as? ErrandError == .timeoutTotal)
        let next = try await InterceptedRun(interceptors: [interceptor]).status(server("t2"))
        #expect(next == 200)
        // It was cancelled, and what it brings comes too late.
        await ended.arrivals(1)
        await ended.open()
        await allowTime(for: "a refresh too many")
        #expect(interceptor.credential == "t2")
    }

    /// What clocks cannot count to, as a way to say "no timeout".
    @Test(.timeLimit(.minutes(20)))
    func aTimeoutBeyondAllClocksIsThatOfTheLongestSleep() async throws {
        let clock = ManualClock()
        let gate = Gate()
        let authenticator = TestAuthenticator { number, _, _ in
            await gate.pass()
            return "t\(number)"
        }
        let interceptor = AuthenticationInterceptor(authenticator, refreshTimeout: .seconds(Int64.max), clock: clock)
        let waiting = Task { try await InterceptedRun(interceptors: [interceptor]).prepare() }
        await clock.sleepers(1)
        clock.advance(by: .longestSleep)
        await #expect(throws: ErrandError.authenticationFailed) { try await waiting.value }
        await gate.open()
        // A clock that does trap.
        let real = AuthenticationInterceptor(TestAuthenticator(), refreshTimeout: .seconds(Int64.max))
        for _ in 0..<100 {
            real.invalidate()
            _ = try await InterceptedRun(interceptors: [real]).prepare()
        }
    }

    @Test func anErrorOfItsOwnKindIsNotWrapped() async throws {
        let authenticator = TestAuthenticator { _, _, _ in
            throw ErrandError.authenticationFailed.with(message: "the account is closed")
        }
        let interceptor = AuthenticationInterceptor(authenticator)
        let error = await #expect(throws: ErrandError.self) {
            try await InterceptedRun(interceptors: [interceptor]).prepare()
        }
        #expect(error?.message == "the account is closed")
        #expect(error?.underlyingError == nil)
    }
}
