import Errand
import ErrandTesting
import HTTPTypes
import Testing

/// A client with resilience against a server that fails.
@Suite struct ResilienceRunTests {
    private static func answer(_ status: String, body: String = "") -> [ScriptedServer.Step] {
        [.send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")]
    }

    private static let quick = RetryPolicy(backoff: RetryBackoff(base: .milliseconds(1)))

    private func with(
        _ server: ScriptedServer, _ resilience: Resilience?, cookies: CookieStorage = .off,
        _ body: (Client) async throws -> Void
    ) async throws {
        var configuration = Client.Configuration.patient(baseURL: server.url("/"), loops: 1)
        configuration.resilience = resilience
        configuration.cookies = cookies
        try await Client.with(Client(configuration: configuration), body)
    }

    @Test func aRequestSucceedsAfterTwo503() async throws {
        let server = try ScriptedServer()
        for path in ["/whole", "/stream"] {
            for _ in 0..<2 { try server.on(path, Self.answer("503 Busy", body: "busy")) }
            try server.on(path, Self.answer("200 OK", body: "ok"))
        }
        try await with(server, Resilience(retry: Self.quick), cookies: .memory) { client in
            #expect(try await client.run(Get(path: "whole")).statusCode == 200)
            let streamed = try await client.stream(Get(path: "stream"))
            #expect(streamed.head.statusCode == 200)
            var bytes: [UInt8] = []
            for try await chunk in streamed.body { bytes += chunk }
            #expect(bytes == Array("ok".utf8))
            #expect(client.resilience?.counts.retries == ["status503": 4])
            // The engine is found beneath the layers.
            #expect(client.cookies != nil)
        }
        #expect(server.counts.requests == 6)
    }

    /// 10,000 requests to a service that fails each: 1.1 times the load, and the floor of the budget.
    @Test func aDeadServiceIsNotStormed() async throws {
        let server = try ScriptedServer()
        try server.on("/", Self.answer("503 Down"))
        let clock = ContinuousClock()
        let start = clock.now
        try await with(server, Resilience(retry: Self.quick)) { client in
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<20 {
                    group.addTask {
                        for _ in 0..<500 {
                            // The last result stands: a 503, not an error of the retries.
                            await #expect(throws: ErrandError.statusNotAccepted) {
                                try await client.run(Get(path: "?\(worker)"))
                            }
                        }
                    }
                }
            }
        }
        // The floor gives one token a second, and has ten at the beginning.
        let seconds = Int((clock.now - start) / .seconds(1)) + 1
        let requests = server.counts.requests
        #expect(requests > 10_000 && requests <= 11_000 + 10 + seconds)
    }

    @Test func aBreakerOpensAndClosesAgain() async throws {
        let server = try ScriptedServer()
        for _ in 0..<3 { try server.on("/", Self.answer("500 Broken")) }
        try server.on("/", Self.answer("200 OK"))
        let breaker = BreakerPolicy(
            window: .count(10), minimumCalls: 3, openTime: .milliseconds(200), jitter: 0, halfOpenPermits: 1)
        try await with(server, Resilience(breaker: breaker)) { client in
            for _ in 0..<3 {
                await #expect(throws: ErrandError.statusNotAccepted) { try await client.run(Get(path: "")) }
            }
            let state = { client.resilience?.breakers?.all.first?.state }
            #expect(state() == .open)
            var status: Int?
            while status == nil {
                do {
                    status = try await client.run(Get(path: "")).statusCode
                } catch let error as ErrandError where error == .circuitOpen {
                    #expect(error.isRefusal && error.retryAfter.map { $0 <= .milliseconds(200) } == true)
                    await allowTime(for: "the open time passes", .milliseconds(5))
                }
            }
            #expect(status == 200 && state() == .closed)
        }
        #expect(server.counts.requests == 4)
    }
}

/// The deadline of a task, for what the task's requests cause on other threads.
@Suite struct DeadlineRunTests {
    private static func with(_ body: (Client, ScriptedServer) async throws -> Void) async throws {
        let server = try ScriptedServer()
        try server.on("/hop", [.send("HTTP/1.1 302 Found\r\nLocation: /stall\r\nContent-Length: 0\r\n\r\n")])
        try server.on("/stall", [.stall])
        var configuration = Client.Configuration.patient(baseURL: server.url("/"), loops: 1)
        configuration.resilience = Resilience()
        try await Client.with(Client(configuration: configuration)) { try await body($0, server) }
    }

    @Test func redirectsAndGroupsEndByTheDeadline() async throws {
        try await Self.with { client, server in
            let children = Batch(count: 2, maxConcurrent: 2) { _ in Get(path: "hop") }
            let sent = "all requests were sent before the deadline"
            let error = try await withEnoughTime(sent) { time async throws -> ErrandError? in
                await Deadline.limit(to: .after(time)) { () async -> ErrandError? in
                    let error = await #expect(throws: ErrandError.self) { try await client.run(Get(path: "hop")) }
                    return error == .deadlineExceeded ? nil : error
                }
            }
            #expect(error == .timeoutTotal)
            // The deadline is that of the group, and that of each child.
            let words = try await withEnoughTime(sent) { time async throws -> String? in
                await Deadline.limit(to: .after(time)) { () async -> String? in
                    let error = await #expect(throws: ErrandError.self) { try await client.run(children) }
                    let words = error.map { "\($0)" } ?? ""
                    return words.contains("deadlineExceeded") ? nil : words
                }
            }
            #expect(words.contains("timeoutTotal"))
            await Deadline.limit(to: .after(.zero)) {
                let error = await #expect(throws: ErrandError.deadlineExceeded) {
                    try await client.run(Get(path: "late"))
                }
                #expect(error?.isRefusal == true)
            }
            #expect(!server.requests.contains { $0.target == "/late" })
        }
    }
}
