import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import Testing

/// What docs/ytknetwork.md promises of the engine, and no other test looks at.
@Suite struct YTKNetworkPromiseRunTests {
    /// Not that a number reaches the engine, but that it decides.
    @Test func prioritiesDecideWhoGoesFirst() async throws {
        let server = try ScriptedServer()
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        try server.on("/first", [.stall, .send(answer)])
        try server.on(nil, [.send(answer)])
        var configuration = Client.Configuration.patient(baseURL: server.url("/"), loops: 1)
        configuration.originInFlightLimit = 1
        try await Client.with(Client(configuration: configuration)) { client in
            client.start(RawCommand(url: "first"))
            #expect(await server.hasSeen(.init(requests: 1)))
            for (name, priority) in [("low", Priority.low), ("normal", .normal), ("high", .high)] {
                var command = RawCommand(url: name)
                command.priority = priority
                client.start(command)
            }
            // The loop takes requests in the order of their start. So it has these once it has ended a later request.
            var last = RawCommand(url: "last")
            last.timeouts = Timeouts(queue: .milliseconds(1))
            await #expect(throws: ErrandError.timeoutQueue) { try await client.run(last) }
            server.release()
            await client.shutdown(.drain(within: .seconds(240)))
        }
        #expect(server.requests.map(\.target) == ["/first", "/high", "/normal", "/low"])
    }

    @Test func aHeadHasAHeadAlone() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send("HTTP/1.1 200 OK\r\nContent-Length: 12\r\nX-A: b\r\n\r\n")])
        try await Client.with(Client(configuration: .patient(baseURL: server.url("/"), loops: 1))) { client in
            let response = try await client.run(Get(path: "x", method: .head))
            #expect(response.statusCode == 200 && response.body.isEmpty)
            #expect(response.headers[.contentLength] == "12")
        }
        #expect(server.requests.map(\.method) == ["HEAD"])
    }

    @Test func aPatchTakesItsBodyAlong() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.readBody, .send("HTTP/1.1 204 No Content\r\n\r\n")])
        try await Client.with(Client(configuration: .patient(baseURL: server.url("/"), loops: 1))) { client in
            _ = try await client.run(Get(path: "x", method: .patch, body: .json(["a": 1])))
        }
        #expect(server.requests.map(\.method) == ["PATCH"])
        #expect(server.requests.first.map { String(decoding: $0.body, as: UTF8.self) } == #"{"a":1}"#)
    }

    @Test func theSystemsErrorIsCarried() async throws {
        let port = try FaultPort(.refused)
        try await Client.with(Client(configuration: .patient())) { client in
            let result = await client.result(of: Get(path: "http://127.0.0.1:\(port.number)/"))
            let error = #expect(throws: ErrandError.self) { try result.get() }
            #expect(error == .connectFailed && error?.curlCode == 7 && error?.systemErrorCode == Int(ECONNREFUSED))
        }
    }

    @Test(arguments: [HTTPRequest.Method.post, .patch, .delete])
    func uploadsOfAnyMethodAreFollowed(method: HTTPRequest.Method) async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.readBody, .send("HTTP/1.1 204 No Content\r\n\r\n")])
        let reports = Mutex<[ProgressReport]>([])
        try await Client.with(Client(configuration: .patient(baseURL: server.url("/"), loops: 1))) { client in
            let request = client.request(
                Get(path: "x", method: method, body: .bytes([UInt8](repeating: 1, count: 300_000))))
            request.addAccessory(ProgressAccessory(.upload) { report in reports.withLock { $0.append(report) } })
            await withCheckedContinuation { continuation in
                request.start(completion: { _ in continuation.resume() })
            }
        }
        let last = reports.withLock { $0.last }
        #expect(last?.bytes == 300_000 && last?.fraction == 1)
    }

    @Test func onProgressIsForOneRun() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345")])
        let progress = Mutex<[TransferProgress]>([])
        try await Client.with(Client(configuration: .patient(baseURL: server.url("/"), loops: 1))) { client in
            let request = client.request(Get(path: "x"))
            request.onProgress { step in progress.withLock { $0.append(step) } }
            for run in 1...2 {
                await withCheckedContinuation { continuation in
                    let isStarted = request.start(completion: { _ in continuation.resume() })
                    #expect(isStarted)
                }
                let told = progress.withLock { $0 }
                #expect(run == 1 ? told.last?.bytesReceived == 5 : told.isEmpty)
                progress.withLock { $0 = [] }
            }
        }
    }
}
