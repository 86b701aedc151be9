import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// Traffic with real servers is recorded, and replayed without them.
@Suite(.timeLimit(.minutes(20))) struct CassetteRunTests {
    private let path = NSTemporaryDirectory() + "errand-cassette-\(UUID().uuidString).har"

    /// What a client got, in a form that two runs can be compared by.
    private struct Seen: Equatable {
        var statuses: [Int] = []
        var headers: [HTTPFields] = []
        var bodies: [[UInt8]] = []
        var streamed = 0

        mutating func take(_ response: Response) {
            statuses.append(response.statusCode)
            headers.append(response.headers)
            bodies.append(response.body.bytes)
        }
    }

    private func configuration(_ baseURL: String) -> Client.Configuration {
        .patient(baseURL: baseURL, loops: 1)
    }

    @Test func aRunWithNginx() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = try Nginx.shared.get()
        let name = "dav/cassette-\(UUID().uuidString)"
        func run(_ mode: Cassette.Mode) async throws -> Seen {
            try await Cassette.use(
                path, mode: mode, configuration: configuration(server.url("/")), shiftsDates: false, requiresAll: true
            ) { client in
                var seen = Seen()
                for path in ["12b", "gzip/1k", "redirect/302", "status/404"] {
                    switch await client.result(of: Get(path: path)) {
                    case .success(let response): seen.take(response)
                    case .failure(let error): if let response = error.response { seen.take(response) }
                    }
                }
                let chunks = (0..<40).map { [UInt8](repeating: UInt8($0), count: 10_000) }
                let upload = Get(
                    path: name, method: .put,
                    body: .stream(length: 400_000) {
                        AsyncStream<[UInt8]> { continuation in
                            for chunk in chunks { continuation.yield(chunk) }
                            continuation.finish()
                        }
                    })
                seen.take(try await client.run(upload))
                for try await chunk in try await client.stream(Get(path: "1m")).body { seen.streamed += chunk.count }
                return seen
            }
        }
        let recorded = try await run(.once)
        #expect(recorded.statuses == [200, 200, 200, 404, 201] && recorded.streamed == 1 << 20)
        let har = try HAR(contentsOf: path)
        // The redirect is two exchanges.
        #expect(har.entries.count == 7)
        #expect(har.entries.allSatisfy { $0.time > .zero && $0.serverAddress == "127.0.0.1" })
        let upload = try #require(har.entries.first { $0.request.method == "PUT" })
        #expect(upload.request.body?.bytes.count == 400_000 && upload.request.wireSize == 400_000)
        let replayed = try await run(.none)
        #expect(replayed == recorded)
    }

    @Test func failuresOfARealServer() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = try ScriptedServer()
        try server.on("/half", [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .finish])
        try server.on("/reset", [.reset])
        try server.on("/stall", [.stall])
        let refused = try FaultPort(.refused)
        let gets = [
            Get(path: server.url("/half")), Get(path: server.url("/reset")),
            Get(path: server.url("/stall"), timeouts: Timeouts(idle: .milliseconds(300))),
            Get(path: "http://127.0.0.1:\(refused.number)/"),
        ]
        func run(_ mode: Cassette.Mode) async throws -> (failures: [ErrandError], bodies: [Int]) {
            try await Cassette.use(path, mode: mode, configuration: configuration("http://127.0.0.1/")) { client in
                var failures: [ErrandError] = []
                for get in gets {
                    if case .failure(let error) = await client.result(of: get) { failures.append(error) }
                }
                return (failures, failures.map { $0.response?.body.count ?? -1 })
            }
        }
        let recorded = try await run(.once)
        #expect(recorded.failures == [.partialBody, .connectionLost, .timeoutIdle, .connectFailed])
        #expect(recorded.bodies == [3, -1, -1, -1])
        server.release()
        let count = server.requests.count
        let replayed = try await run(.none)
        #expect(replayed.failures == recorded.failures && replayed.bodies == recorded.bodies)
        #expect(replayed.failures.map(\.message) == recorded.failures.map(\.message))
        #expect(replayed.failures.map(\.curlCode) == recorded.failures.map(\.curlCode))
        #expect(server.requests.count == count)
    }
}
