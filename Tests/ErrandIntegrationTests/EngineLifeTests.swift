import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

/// Clients that stop, are dropped, come and go.
@Suite struct EngineLifeTests {
    @Test func cancellingTasksEndsTransfers() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.stall])
        try await Client.with(Client(configuration: .patient(baseURL: server.url("/")))) { client in
            let tasks = (0..<50).map { number in Task { try await client.run(Get(path: "\(number)")) } }
            #expect(await server.hasSeen(.init(requests: 1)))
            for task in tasks { task.cancel() }
            for task in tasks {
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
    }

    @Test func shutdownEndsWhatRuns() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.stall])
        let client = Client(configuration: .patient(baseURL: server.url("/")))
        let requests = (0..<20).map { client.start(Get(path: "\($0)")) }
        await client.shutdown(.drain(within: .milliseconds(50)))
        #expect(requests.allSatisfy { $0.error == .shutDown })
        await #expect(throws: ErrandError.shutDown) { try await client.run(Get(path: "late")) }
    }

    /// The last reference goes away inside an inline callback, on a loop thread, which cannot join itself.
    @Test func clientDroppedOnALoopThread() async throws {
        for _ in 0..<20 {
            weak var dropped: Client?
            await withCheckedContinuation { continuation in
                let holder = Mutex<Client?>(nil)
                do {
                    guard let client = try? Nginx.client({ $0.callbackQueue = .inline() }) else {
                        return continuation.resume()
                    }
                    dropped = client
                    holder.withLock { $0 = client }
                }
                holder.withLock { $0 }?.start(Get(path: "/12b"), completion: { _ in continuation.resume() })
                holder.withLock { $0 = nil }
            }
            // The request's own reference goes right after the closure.
            try await waitUntil("the object is gone") { dropped == nil }
        }
    }

    @Test func clientsComeAndGo() async throws {
        for round in 0..<50 {
            let client = try Nginx.client()
            if round.isMultiple(of: 2) { _ = try await client.run(Get(path: "/12b")) }
            if round.isMultiple(of: 3) { client.start(Get(path: "/64k")) }
            await client.shutdown(.cancel)
        }
    }

    @Test func pausedRequestsGoOn() async throws {
        try await Client.with(Nginx.client()) { client in
            let request = client.request(Get(path: "/1k"))
            await withCheckedContinuation { continuation in
                request.start(completion: { _ in continuation.resume() })
                request.pause()
                request.resume()
            }
            #expect(request.state == .succeeded)
        }
    }
}
