import Dispatch
import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct GetShared: Command {
    var path = "shared"
    var method = HTTPRequest.Method.get
    var headers = HTTPFields()
    var body = RequestBody.empty
    var timeouts: Timeouts?
    var interceptors: [any Interceptor] = []
    var options: CommandOptions = .coalesced
    typealias Response = String
}

extension Client {
    /// Returns when so many requests have a transfer.
    fileprivate func hasSubmitted(_ count: Int) async throws {
        try await waitUntil("\(count) requests have a transfer") {
            requests.filter({ $0.core.withLock { $0.machine.transferID } != nil }).count >= count
        }
    }
}

/// Requests that share transfers, on a transport that does what it is told.
@Suite(.timeLimit(.minutes(20))) struct CoalescingTests {
    private func response(_ text: String, status: Int = 200) -> TransferResult {
        .response(Response(statusCode: status, body: Array(text.utf8)))
    }

    private func with(
        _ stub: StubTransport = StubTransport(), clock: ManualClock = ManualClock(),
        _ body: (Client, StubTransport) async throws -> Void
    ) async throws {
        let client = Client.stubbed(stub) { $0.clock = clock }
        try await body(client, stub)
        await client.shutdown(.cancel)
        #expect(client.coalescing.count == 0)
        #expect(client.requests.isEmpty)
    }

    @Test func equalRequestsShareOneTransfer() async throws {
        try await with { client, stub in
            let notes = Notes<String>()
            let requests = (0..<5).map { _ in client.start(GetShared(), completion: { notes.add($0.value ?? "none") }) }
            #expect(stub.submitted.count == 1)
            #expect(stub.complete(stub.open[0], with: response("once")))
            await client.callbacksDrained()
            #expect(notes.all == Array(repeating: "once", count: 5))
            #expect(requests.allSatisfy { $0.response?.statusCode == 200 })
            // It is over: the next one is sent.
            client.start(GetShared())
            #expect(stub.submitted.count == 2)
        }
    }

    @Test func asyncCallersShareToo() async throws {
        try await with { client, stub in
            async let first = client.run(GetShared())
            async let second = client.run(GetShared())
            try await client.hasSubmitted(2)
            stub.complete(stub.open[0], with: response("both"))
            let texts = try await [first, second]
            #expect(texts == ["both", "both"])
            #expect(stub.submitted.count == 1)
        }
    }

    @Test func whatDiffersOrDidNotChooseIsSentByItself() async throws {
        let commands: [GetShared] = [
            GetShared(), GetShared(path: "other"), GetShared(method: .head),
            GetShared(headers: [.accept: "text/plain"]),
            GetShared(method: .post, body: .string("a")), GetShared(method: .post, body: .string("b")),
            GetShared(timeouts: Timeouts(idle: .seconds(1))), GetShared(options: [.coalesced, .freshConnection]),
        ]
        try await with { client, stub in
            for command in commands + commands { client.start(command) }
            #expect(stub.submitted.count == commands.count)
            client.start(GetShared(options: []))
            client.start(GetShared(options: []))
            #expect(stub.submitted.count == commands.count + 2)
            // A body from a file may be another one each time.
            let upload = GetShared(method: .put, body: .file("/proc/self/status"))
            client.start(upload)
            client.start(upload)
            #expect(stub.submitted.count == commands.count + 4)
        }
    }

    /// It changes nothing that is sent.
    @Test func theMemoryOfTheBodyMayDiffer() async throws {
        try await with { client, stub in
            client.start(GetShared())
            client.start(GetShared(options: [.coalesced, .bodyMemory]))
            #expect(stub.submitted.count == 1)
        }
    }

    @Test func overridesChoose() async throws {
        try await with { client, stub in
            var overrides = RequestOverrides()
            overrides.options = .coalesced
            client.start(GetText(), overrides: overrides)
            client.start(GetText(), overrides: overrides)
            #expect(stub.submitted.count == 1)
        }
    }

    /// The first one may leave, and the others go on; the transfer is cancelled with the last.
    @Test func eachLeavesAlone() async throws {
        try await with { client, stub in
            let requests = (0..<3).map { _ in client.start(GetShared()) }
            requests[0].stop()
            await client.callbacksDrained()
            #expect(requests[0].error == .cancelled)
            #expect(requests[1].state == .running)
            #expect(stub.cancelled.isEmpty)
            requests[2].stop()
            requests[1].stop()
            #expect(stub.cancelled.count == 1)
            // A cancelled transfer is not joined, ended or not.
            client.start(GetShared())
            #expect(stub.submitted.count == 2)
        }
    }

    @Test func restsWhileAllArePaused() async throws {
        try await with { client, stub in
            let first = client.start(GetShared())
            let second = client.start(GetShared())
            let id = stub.open[0]
            first.pause()
            #expect(!stub.isPaused(id))
            second.pause()
            #expect(stub.isPaused(id))
            let third = client.start(GetShared())
            #expect(!stub.isPaused(id))
            third.stop()
            #expect(stub.isPaused(id))
            first.resume()
            #expect(!stub.isPaused(id))
            stub.complete(id, with: response("x"))
            await client.callbacksDrained()
            #expect(first.value == "x" && second.value == "x")
        }
    }

    @Test func eachCountsItsOwnTotalTimeout() async throws {
        let time = ManualClock()
        try await with(clock: time) { client, stub in
            let patient = client.start(GetShared())
            let hasty = client.start(GetShared(timeouts: Timeouts(total: .milliseconds(20))))
            await time.sleepers(1)
            time.advance(by: .milliseconds(20))
            try await waitUntil("the request hasty has a result") { hasty.result != nil }
            #expect(hasty.error == .timeoutTotal)
            #expect(stub.submitted.count == 1)
            #expect(stub.submitted[0].settings.timeouts.total == nil)
            stub.complete(stub.open[0], with: response("late"))
            await client.callbacksDrained()
            #expect(patient.value == "late")
        }
    }

    @Test func aRefusalIsEverybodys() async throws {
        let stub = StubTransport { _ in .refuse(.queueFull) }
        try await with(stub) { client, _ in
            let request = client.start(GetShared())
            await client.callbacksDrained()
            #expect(request.error == .queueFull)
            #expect(request.error?.isRefusal == true)
        }
    }

    @Test func eachRedirectIsShared() async throws {
        try await with { client, stub in
            let requests = (0..<3).map { _ in client.start(GetShared()) }
            let moved = Response(statusCode: 302, headers: [.location: "/there"], body: [])
            stub.complete(stub.open[0], with: .response(moved))
            await client.callbacksDrained()
            #expect(stub.submitted.map(\.url) == ["http://test/shared", "http://test/there"])
            stub.complete(stub.open[0], with: response("there"))
            await client.callbacksDrained()
            #expect(requests.map(\.value) == ["there", "there", "there"])
        }
    }

    /// A signature of its own makes a request another one.
    @Test func interceptorsComeFirst() async throws {
        struct Signing: PreparingInterceptor {
            let signature: String
            func prepare(
                _ request: RequestDescription, in context: InterceptionContext
            ) async throws -> RequestDescription {
                var description = request
                try description.headers.set(.authorization, to: signature)
                return description
            }
        }
        try await with { client, stub in
            for signature in ["a", "b", "a"] {
                client.start(GetShared(interceptors: [Signing(signature: signature)]))
            }
            try await client.hasSubmitted(3)
            #expect(stub.submitted.compactMap { $0.headers[.authorization] }.sorted() == ["a", "b"])
        }
    }

    /// Answers that come before the submission returns.
    @Test func immediateAnswers() async throws {
        let stub = StubTransport(delivery: .immediate) { _ in .response(status: 200, body: "now") }
        try await with(stub) { client, _ in
            for _ in 0..<100 {
                let text = try await client.run(GetShared())
                #expect(text == "now")
            }
            #expect(stub.submitted.count == 100)
        }
    }

    /// Many threads that start, stop, pause and resume equal requests while others answer: each ends once.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func storm(seed: UInt64) async throws {
        try await with { client, stub in
            let ended = Notes<UInt64>()
            let isOver = Atomic(false)
            let answering = Task.detached {
                while !isOver.load(ordering: .acquiring) {
                    for id in stub.open {
                        stub.complete(id, with: .response(Response(statusCode: 200, body: [120])))
                    }
                    await Task.yield()
                }
            }
            let count = 1000
            await withTaskGroup(of: Void.self) { group in
                for thread in 0..<4 {
                    group.addTask {
                        var random = SeededGenerator(seed: seed &* 31 &+ UInt64(thread))
                        for _ in 0..<count {
                            let path = "shared\(Int.random(in: 0..<3, using: &random))"
                            let request = client.request(GetShared(path: path))
                            request.start(notifiesOnStop: true) { ended.add($0.id) }
                            switch Int.random(in: 0..<6, using: &random) {
                            case 0: request.stop()
                            case 1: await Task.yield()
                            case 2:
                                request.pause()
                                await Task.yield()
                                request.resume()
                            case 3:
                                request.pause()
                                request.stop()
                            default: break
                            }
                        }
                    }
                }
            }
            try await waitUntil("no request of the client runs") { client.requests.isEmpty }
            isOver.store(true, ordering: .releasing)
            await answering.value
            await client.callbacksDrained()
            let ids = ended.all
            #expect(ids.count == 4 * count)
            #expect(Set(ids).count == ids.count)
        }
    }
}
