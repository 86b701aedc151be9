import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct User: Decodable, Sendable, Equatable {
    var name: String
}

private struct LoadUser: Command {
    var path: String { "users/1" }
    typealias Response = User
}

/// A command that says nothing but its path.
private struct Bare: Command {
    var path: String { "bare" }
}

@Suite struct ClientClosureTests {
    @Test(arguments: [StubTransport.Delivery.asynchronous, .immediate])
    func successIsToldOnceWithTheValue(delivery: StubTransport.Delivery) async {
        let client = Client.stubbed(
            StubTransport(delivery: delivery) { _ in
                .response(status: 200, body: #"{"name":"ada"}"#)
            })
        let told = Notes<String>()
        let request = await withCheckedContinuation { continuation in
            client.start(
                LoadUser(),
                success: { request in
                    told.add("success \(request.value?.name ?? "-")")
                    continuation.resume(returning: request)
                }, failure: { _ in told.add("failure") })
        }
        await client.callbacksDrained()
        #expect(told.all == ["success ada"])
        #expect(request.state == .succeeded)
        #expect(request.value == User(name: "ada"))
        #expect(request.error == nil)
        #expect(request.response?.statusCode == 200)
        #expect(request.url == "http://test/users/1")
        #expect(request.attempts.map(\.number) == [1])
    }

    @Test func aCommandWithoutMoreThanAPathYieldsTheResponse() async throws {
        let client = Client.stubbed(StubTransport { _ in .response(status: 204) })
        let response: Response = try await client.run(Bare())
        #expect(response.statusCode == 204)
    }

    @Test func statusDecodingAndTransportErrorsAreFailures() async {
        let answers: [(StubTransport.Answer, ErrandError)] = [
            (.response(status: 404, body: "gone"), .statusNotAccepted),
            (.response(status: 200, body: "no json"), .responseDecodingFailed),
            (.failure(.timeoutIdle), .timeoutIdle),
            (.refuse(.queueFull), .queueFull),
            (.failure(.cancelled), .shutDown),
        ]
        for (answer, expected) in answers {
            let client = Client.stubbed(StubTransport { _ in answer })
            let request = await withCheckedContinuation { continuation in
                client.start(LoadUser(), completion: { continuation.resume(returning: $0) })
            }
            #expect(request.error == expected)
            #expect(request.state == .failed)
            #expect(request.value == nil)
            if case .response(let response) = answer {
                #expect(request.error?.response?.statusCode == response.statusCode)
            }
        }
    }

    @Test func buildFailuresComeOnTheCallbackQueueAndSendNothing() async {
        let stub = StubTransport()
        let client = Client(transport: stub)
        let isInStart = Atomic<Bool>(true)
        await withCheckedContinuation { continuation in
            client.callbacks.async {
                client.start(
                    GetText(path: "relative"), success: { _ in },
                    failure: { request in
                        #expect(isInStart.load(ordering: .acquiring) == false)
                        #expect(request.error == .invalidURL)
                        continuation.resume()
                    })
                isInStart.store(false, ordering: .releasing)
            }
        }
        #expect(stub.submitted.isEmpty)
    }

    @Test func stopOnTheCallbackQueueIsSilent() async {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let told = Notes<String>()
        let request = client.start(GetText(), success: { _ in told.add("s") }, failure: { _ in told.add("f") })
        client.callbacks.async {
            // The response is on its way already when the request is stopped.
            stub.completeAll { _ in .response(Response(statusCode: 200)) }
            request.stop()
        }
        await client.shutdown(.drain(within: .seconds(3600)))
        #expect(told.all == [])
        #expect(request.state == .cancelled)
        #expect(request.error == .cancelled)
        #expect(request.value == nil)
    }

    @Test func stopIsToldWhereThatWasAskedFor() async {
        let client = Client.stubbed(StubTransport()) { $0.reportsStops = true }
        await withCheckedContinuation { continuation in
            let request = client.start(
                GetText(), success: { _ in },
                failure: { request in
                    #expect(request.error == .cancelled)
                    continuation.resume()
                })
            request.stop()
            request.stop()
        }
    }

    @Test func stopInsideSubmitCancelsOnceTheIDIsKnown() async {
        let request = Mutex<Request<GetText>?>(nil)
        let stub = StubTransport { _ in
            request.withLock { $0?.stop() }
            return .hold
        }
        let client = Client.stubbed(stub)
        let made = client.request(GetText())
        request.withLock { $0 = made }
        made.start()
        #expect(stub.cancelled == [TransferID(rawValue: 1)])
        await client.shutdown(.drain(within: .seconds(3600)))
        #expect(made.state == .cancelled)
        request.withLock { $0 = nil }
    }

    @Test func pauseAndResumeReachTheTransport() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let request = client.start(GetText())
        let id = try #require(stub.open.first)
        request.pause()
        #expect(stub.isPaused(id))
        #expect(request.state == .paused)
        request.pause()
        request.resume()
        #expect(!stub.isPaused(id))
        #expect(request.state == .running)
        request.stop()
        await client.shutdown(.cancel)
    }

    @Test func startWhileRunningIsRefusedAndKeepsTheFirstClosures() async {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let told = Notes<String>()
        let request = client.start(GetText(), success: { _ in told.add("first") })
        let restarted = request.start(success: { _ in told.add("second") })
        #expect(!restarted)
        #expect(!request.start())
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
        await client.shutdown()
        #expect(told.all == ["first"])
        #expect(stub.submitted.count == 1)
    }

    @Test func restartFromItsOwnCallbackForgetsTheRunBefore() async {
        let count = Atomic<Int>(0)
        let client = Client.stubbed(
            StubTransport { _ in
                count.wrappingAdd(1, ordering: .relaxed).newValue == 1
                    ? .failure(.connectionLost) : .response(status: 200, body: "second")
            })
        let request: Request<GetText> = await withCheckedContinuation { continuation in
            client.start(
                GetText(), success: { _ in },
                failure: { request in
                    let restarted = request.start(completion: { continuation.resume(returning: $0) })
                    #expect(restarted)
                    #expect(!request.start())
                    // Others may still look at the run that ended.
                    #expect(request.error == .connectionLost)
                })
        }
        #expect(request.value == "second")
        #expect(request.error == nil)
        #expect(request.attempts.count == 1)
    }

    @Test func redirectsAreFollowedAndCounted() async throws {
        let stub = StubTransport { description in
            switch description.url {
            case "http://test/raw": .response(status: 302, headers: [.location: "/two"])
            case "http://test/two": .response(status: 307, headers: [.location: "http://other/three"])
            default: .response(status: 200, body: description.url)
            }
        }
        let client = Client.stubbed(stub) { $0.headers = [.authorization: "secret"] }
        let request = await withCheckedContinuation { continuation in
            client.start(GetText(path: "raw"), completion: { continuation.resume(returning: $0) })
        }
        #expect(request.value == "http://other/three")
        #expect(request.attempts.map(\.url) == ["http://test/raw", "http://test/two", "http://other/three"])
        #expect(request.attempts.map { $0.response?.statusCode } == [302, 307, 200])
        #expect(stub.submitted.map { $0.headers[.authorization] } == ["secret", "secret", nil])
        #expect(try await client.run(GetText(path: "raw")) == "http://other/three")
    }

    @Test func redirectLoopsEndByTheLimit() async {
        let stub = StubTransport { _ in .response(status: 301, headers: [.location: "/again"]) }
        let result = await Client.stubbed(stub).result(of: GetRaw())
        #expect(throws: ErrandError.tooManyRedirects) { try result.get() }
        #expect(stub.submitted.count == 11)
    }

    @Test func stopDuringARedirectDecisionEndsIt() async {
        let request = Mutex<Request<GetRaw>?>(nil)
        let stub = StubTransport { _ in .response(status: 302, headers: [.location: "/x"]) }
        let client = Client.stubbed(stub)
        let policy = RedirectPolicy.follow { hop in
            request.withLock { $0?.stop() }
            return .follow(hop.proposal)
        }
        let made = client.request(GetRaw(redirects: policy))
        request.withLock { $0 = made }
        made.start()
        await client.shutdown()
        #expect(made.state == .cancelled)
        #expect(stub.submitted.count == 1)
        request.withLock { $0 = nil }
    }

    /// 20 seeds of users who start, stop and restart from many tasks while the transport answers at random.
    @Test func storm() async {
        for seed in 0..<20 {
            let stub = StubTransport(delivery: seed.isMultiple(of: 2) ? .asynchronous : .immediate) { description in
                description.url.hasSuffix("0") ? .hold : .response(status: 200, body: "x")
            }
            let client = Client.stubbed(stub)
            let ends = Notes<UInt64>()
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(seed * 100 + task))
                        for number in 0..<100 {
                            let request = client.request(GetText(path: "\(number)"))
                            request.start(notifiesOnStop: true) { ends.add($0.id) }
                            if number.isMultiple(of: 10) || Bool.random(using: &random) { request.stop() }
                        }
                    }
                }
            }
            await client.shutdown()
            #expect(ends.all.count == 800, "seed \(seed)")
            #expect(Set(ends.all).count == 800, "seed \(seed)")
            #expect(stub.open.isEmpty)
        }
    }
}
