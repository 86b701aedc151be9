import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandAuthentication

/// Many requests, one credential.
@Suite struct AuthenticationFlightTests {
    private static let many = 1000

    /// All are sent with the old credential before the first is refused.
    private func storm(
        _ interceptor: AuthenticationInterceptor<TestAuthenticator>, valid: String, sent: Notes<String?>
    ) async -> [Result<Int, any Error>] {
        let gate = Gate()
        return await withTaskGroup(of: Result<Int, any Error>.self) { group in
            for _ in 0..<Self.many {
                group.addTask {
                    do {
                        let run = InterceptedRun(interceptors: [interceptor])
                        return .success(
                            try await run.status { request in
                                let credential = request.headers[.authorization]
                                sent.add(credential)
                                if credential != valid { await gate.pass() }
                                return Response(statusCode: credential == valid ? 200 : 401)
                            })
                    } catch {
                        return .failure(error)
                    }
                }
            }
            await gate.arrivals(Self.many)
            await gate.open()
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(.timeLimit(.minutes(20)))
    func aThousandRefusalsCauseOneRefresh() async throws {
        let authenticator = TestAuthenticator()
        let interceptor = AuthenticationInterceptor(authenticator, credential: "t0")
        let sent = Notes<String?>()
        let results = await storm(interceptor, valid: "t1", sent: sent)
        #expect(authenticator.count == 1)
        #expect(results.count == Self.many)
        #expect(results.allSatisfy { (try? $0.get()) == 200 })
        #expect(sent.all.count { $0 == "t0" } == Self.many)
        #expect(sent.all.count { $0 == "t1" } == Self.many)
    }

    @Test(.timeLimit(.minutes(20)))
    func aFailedRefreshFailsAThousandOnce() async throws {
        let authenticator = TestAuthenticator { number, _, _ in
            if number == 1 { throw RefreshTrouble(number: number) }
            return "t\(number)"
        }
        let interceptor = AuthenticationInterceptor(authenticator, credential: "t0")
        let sent = Notes<String?>()
        let results = await storm(interceptor, valid: "t2", sent: sent)
        #expect(authenticator.count == 1)
        #expect(sent.all.count == Self.many)
        for result in results {
            let error = #expect(throws: ErrandError.self) { try result.get() }
            #expect(error == .authenticationFailed)
            #expect(error?.underlyingError as? RefreshTrouble == RefreshTrouble(number: 1))
        }
        let next = try await InterceptedRun(interceptors: [interceptor]).status { request in
            Response(statusCode: request.headers[.authorization] == "t2" ? 200 : 401)
        }
        #expect(next == 200)
        #expect(authenticator.count == 2)
    }

    /// One after the other refused, each refresh brings another credential that nobody takes.
    @Test(.timeLimit(.minutes(20)))
    func aServerThatRefusesEverythingIsNotAskedForEver() async throws {
        let authenticator = TestAuthenticator()
        let interceptor = AuthenticationInterceptor(authenticator, credential: "t0")
        let sent = Notes<String?>()
        let results = await storm(interceptor, valid: "none", sent: sent)
        #expect(results.allSatisfy { (try? $0.get()) == 401 })
        #expect(authenticator.count == 1)
        #expect(sent.all.count == 2 * Self.many)
    }

    // MARK: Those who leave

    private func hanging(_ gate: Gate, cancelled: Notes<Bool>) -> TestAuthenticator {
        TestAuthenticator { number, _, _ in
            await gate.pass()
            cancelled.add(Task.isCancelled)
            return "t\(number)"
        }
    }

    @Test(.timeLimit(.minutes(20)))
    func whoIsCancelledLeavesAndTheOthersStay() async throws {
        let gate = Gate()
        let cancelled = Notes<Bool>()
        let authenticator = hanging(gate, cancelled: cancelled)
        let interceptor = AuthenticationInterceptor(patient: authenticator)
        let tasks = (0..<20).map { _ in
            Task { try await InterceptedRun(interceptors: [interceptor]).prepare().headers[.authorization] }
        }
        await gate.arrivals(1)
        for task in tasks.prefix(10) { task.cancel() }
        // The gate is still shut.
        for task in tasks.prefix(10) {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(cancelled.all.isEmpty)
        await gate.open()
        for task in tasks.dropFirst(10) {
            let sent = try await task.value
            #expect(sent == "t1")
        }
        #expect(cancelled.all == [false])
        #expect(authenticator.count == 1)
    }

    @Test(.timeLimit(.minutes(20)))
    func theRefreshEndsForNobody() async throws {
        let gate = Gate()
        let cancelled = Notes<Bool>()
        let authenticator = hanging(gate, cancelled: cancelled)
        let interceptor = AuthenticationInterceptor(patient: authenticator)
        let task = Task { try await InterceptedRun(interceptors: [interceptor]).prepare() }
        await gate.arrivals(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await gate.open()
        // Joins the refresh, or comes after it.
        let sent = try await InterceptedRun(interceptors: [interceptor]).prepare().headers[.authorization]
        #expect(sent == "t1")
        #expect(authenticator.count == 1)
        #expect(cancelled.all == [false])
    }

    @Test func whoIsCancelledBeforehandBeginsNothing() async throws {
        let authenticator = TestAuthenticator()
        let interceptor = AuthenticationInterceptor(authenticator)
        let gate = Gate()
        let task = Task {
            await gate.pass()
            _ = try await InterceptedRun(interceptors: [interceptor]).prepare()
        }
        task.cancel()
        await gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(authenticator.count == 0)
    }

    // MARK: One at a time

    /// Begins and ends of refreshes; the first one stays until `held` is opened, and opens `cancelled` when it is.
    private func slow(_ told: Notes<String>, held: Gate, cancelled: Gate) -> TestAuthenticator {
        TestAuthenticator { number, _, _ in
            told.add("begin \(number)")
            if number == 1 {
                await withTaskCancellationHandler {
                    await held.pass()
                } onCancel: {
                    Task { await cancelled.open() }
                }
            }
            told.add("end \(number)")
            return "t\(number)"
        }
    }

    private func prepared(
        _ interceptor: AuthenticationInterceptor<TestAuthenticator>
    ) -> Task<String?, any Error> {
        Task { try await InterceptedRun(interceptors: [interceptor]).prepare().headers[.authorization] }
    }

    @Test(.timeLimit(.minutes(20)))
    func anOvertakenRefreshIsCancelledAndWaitedFor() async throws {
        let (held, cancelled) = (Gate(), Gate())
        let told = Notes<String>()
        let authenticator = slow(told, held: held, cancelled: cancelled)
        let interceptor = AuthenticationInterceptor(patient: authenticator)
        let first = prepared(interceptor)
        await held.arrivals(1)
        interceptor.credential = "login"
        let login = try await first.value
        #expect(login == "login")
        await cancelled.pass()
        interceptor.invalidate()
        let second = prepared(interceptor)
        let third = prepared(interceptor)
        await allowTime(for: "a refresh too many")
        #expect(told.all == ["begin 1"])
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        await held.open()
        let sent = try await second.value
        #expect(sent == "t2")
        #expect(told.all == ["begin 1", "end 1", "begin 2", "end 2"])
        #expect(interceptor.credential == "t2")
    }

    /// Even one that does not heed that it was cancelled is not waited for beyond its time.
    @Test(.timeLimit(.minutes(20)))
    func anOvertakenRefreshThatHangsIsGivenItsTime() async throws {
        let clock = ManualClock()
        let (held, cancelled) = (Gate(), Gate())
        let told = Notes<String>()
        let interceptor = AuthenticationInterceptor(
            slow(told, held: held, cancelled: cancelled), refreshTimeout: .seconds(5), clock: clock)
        let first = prepared(interceptor)
        await held.arrivals(1)
        await clock.sleepers(1)
        interceptor.credential = nil
        await #expect(throws: ErrandError.authenticationFailed) { try await first.value }
        interceptor.invalidate()
        let second = prepared(interceptor)
        await allowTime(for: "a refresh too many")
        #expect(told.all == ["begin 1"])
        clock.advance(by: .seconds(5))
        let sent = try await second.value
        #expect(sent == "t2")
        #expect(told.all == ["begin 1", "begin 2", "end 2"])
        await held.open()
    }

    /// As a logout by a refresh that was refused for good.
    @Test(.timeLimit(.minutes(20)))
    func aRefreshThatSetsTheCredentialIsNotCancelledByThat() async throws {
        let box = Mutex<AuthenticationInterceptor<TestAuthenticator>?>(nil)
        let ended = Gate(isOpen: true)
        let cancelled = Notes<Bool>()
        let authenticator = TestAuthenticator { number, _, _ in
            let interceptor = box.withLock { $0 }
            interceptor?.credential = "own"
            cancelled.add(Task.isCancelled)
            await ended.pass()
            return "t\(number)"
        }
        let interceptor = AuthenticationInterceptor(authenticator)
        box.withLock { $0 = interceptor }
        let sent = try await prepared(interceptor).value
        #expect(sent == "own")
        await ended.arrivals(1)
        #expect(cancelled.all == [false])
        #expect(interceptor.credential == "own")
        box.withLock { $0 = nil }
    }

    /// Logins race with refreshes that fail, end and begin; never are two of them under way.
    @Test(.timeLimit(.minutes(20)))
    func loginsRaceWithRefreshes() async throws {
        let present = Atomic<Int>(0)
        let most = Atomic<Int>(0)
        let authenticator = TestAuthenticator { number, _, _ in
            most.max(present.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
            for _ in 0..<number % 7 { await Task.yield() }
            present.subtract(1, ordering: .relaxed)
            if number.isMultiple(of: 5) { throw RefreshTrouble(number: number) }
            return "t\(number)"
        }
        let interceptor = AuthenticationInterceptor(patient: authenticator)
        await withTaskGroup { group in
            for number in 0..<400 {
                group.addTask {
                    if number.isMultiple(of: 3) { interceptor.credential = number.isMultiple(of: 2) ? "login" : nil }
                    if number.isMultiple(of: 4) { interceptor.invalidate() }
                    // Some fail, by a logout or with the refresh.
                    _ = try? await InterceptedRun(interceptors: [interceptor]).prepare()
                }
            }
        }
        #expect(most.load(ordering: .relaxed) == 1)
    }

    // MARK: Races

    /// Cancels race with the end of the refresh, and with each other; everybody is told once.
    @Test(.timeLimit(.minutes(20)))
    func cancelsRaceWithTheEnd() async throws {
        for round in 0..<200 {
            let gate = Gate()
            let interceptor = AuthenticationInterceptor(patient: hanging(gate, cancelled: Notes()))
            let tasks = (0..<8).map { _ in
                Task { try await InterceptedRun(interceptors: [interceptor]).prepare().headers[.authorization] }
            }
            await gate.arrivals(1)
            async let opened: Void = gate.open()
            for task in tasks.dropFirst(round % 8) { task.cancel() }
            await opened
            for task in tasks {
                do {
                    let sent = try await task.value
                    #expect(sent == "t1")
                } catch {
                    #expect(error is CancellationError)
                }
            }
        }
    }
}
