import Errand
import ErrandTesting
import FoundationEssentials
import HTTPTypes
import Synchronization
import Testing

private struct GetText: Command {
    var path: String
    var redirects: RedirectPolicy?
    typealias Response = String
}

/// The whole path, from a command to a real nginx and back.
@Suite struct EngineTests {
    @Test(arguments: [("/12b", 12), ("/1k", 1024), ("/64k", 65536), ("/1m", 1_048_576)])
    func bodiesOfEverySizeByAsyncAndClosures(path: String, size: Int) async throws {
        try await Client.with(Nginx.client()) { client in
            let response = try await client.run(Get(path: path))
            #expect(response.body.count == size)
            #expect(response.headers[.contentLength] == "\(size)")
            let request = await withCheckedContinuation { continuation in
                client.start(Get(path: path), completion: { continuation.resume(returning: $0) })
            }
            #expect(request.value?.body.bytes == response.body.bytes)
        }
    }

    @Test func metricsAreFilled() async throws {
        try await Client.with(Nginx.client { $0.loops = 1 }) { client in
            _ = try await client.run(Get(path: "/12b"))
            let metrics = try await client.run(Get(path: "/12b")).metrics
            #expect(metrics.isConnectionReused)
            #expect(metrics.httpVersion == "1.1")
            #expect(metrics.bytesReceived == 12)
            #expect(metrics.remoteAddress?.hasPrefix("127.0.0.1:") == true)
            #expect(metrics.total > .zero && metrics.total < .seconds(240))
        }
    }

    @Test func methodsAndBodiesArrive() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.readBody, .echo])
        try await Client.with(Client(configuration: .patient(baseURL: server.url("/")))) { client in
            _ = try await client.run(Get(path: "get"))
            _ = try await client.run(Get(path: "post", method: .post, body: .json(["a": 1])))
            _ = try await client.run(Get(path: "put", method: .put, body: .string("text")))
            _ = try await client.run(
                Get(path: "big", method: .post, body: .bytes([UInt8](repeating: 7, count: 300_000))))
            _ = try await client.run(Get(path: "file", method: .put, body: .file(#filePath)))
            _ = try await client.run(Get(path: "delete", method: .delete, headers: [.accept: "a/b"]))
        }
        let seen = server.requests.sorted { $0.target < $1.target }
        #expect(seen.map(\.target) == ["/big", "/delete", "/file", "/get", "/post", "/put"])
        #expect(seen.map(\.method) == ["POST", "DELETE", "PUT", "GET", "POST", "PUT"])
        #expect(seen[0].bodyLength == 300_000)
        #expect(seen[1].values(of: "accept") == ["a/b"])
        #expect(seen[2].bodyLength == (try Data(contentsOf: URL(filePath: #filePath))).count)
        #expect(seen[3].values(of: "user-agent") == ["errand/0.1"])
        #expect(String(decoding: seen[4].body, as: UTF8.self) == #"{"a":1}"#)
        #expect(seen[4].values(of: "content-type") == ["application/json"])
        #expect(String(decoding: seen[5].body, as: UTF8.self) == "text")
    }

    @Test func redirectsOfARealServer() async throws {
        try await Client.with(Nginx.client()) { client in
            let text = try await client.run(GetText(path: "/redirect"))
            #expect(text.utf8.count == 12)
            await #expect(throws: ErrandError.tooManyRedirects) {
                try await client.run(GetText(path: "/redirect/loop"))
            }
            let response = try await client.run(RawCommand(url: "/status/404"))
            #expect(response.statusCode == 404)
        }
    }

    @Test func manyAtOnceByBothWays() async throws {
        try await Client.with(Nginx.client()) { client in
            let sum = Atomic<Int>(0)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<500 {
                    group.addTask { try await client.run(Get(path: "/1k")).body.count }
                }
                for try await count in group { sum.wrappingAdd(count, ordering: .relaxed) }
            }
            let total = sum.load(ordering: .relaxed)
            #expect(total == 500 * 1024)
            let ended = AsyncStream.makeStream(of: Int.self)
            for _ in 0..<500 {
                client.start(Get(path: "/1k"), completion: { ended.continuation.yield($0.value?.body.count ?? 0) })
            }
            var counts: [Int] = []
            for await count in ended.stream {
                counts.append(count)
                if counts.count == 500 { break }
            }
            #expect(counts.allSatisfy { $0 == 1024 })
        }
    }

    @Test func tlsAndHTTP2() async throws {
        let server = try Nginx.shared.get()
        var trusted = ConnectionOptions()
        trusted.tls.caFile = .value(server.certificateAuthorityPath)
        var http2 = trusted
        http2.httpVersion = .http2OverTLS
        try await Client.with(Client(configuration: .patient())) { client in
            let first = try await client.run(
                Get(path: server.url("/12b", port: .tls), connection: trusted))
            #expect(first.body.count == 12)
            let second = try await client.run(Get(path: server.url("/12b", port: .tls), connection: http2))
            #expect(second.metrics.httpVersion == "2")
            #expect(second.metrics.secured != nil)
            for port in [NginxServer.Port.expired, .selfSigned, .wrongHost] {
                await #expect(throws: ErrandError.tlsUntrusted, "\(port)") {
                    try await client.run(Get(path: server.url("/12b", port: port), connection: trusted))
                }
            }
            var pinned = trusted
            pinned.tls.pinnedKeys = [String(repeating: "A", count: 43) + "="]
            await #expect(throws: ErrandError.tlsPinMismatch) {
                try await client.run(Get(path: server.url("/12b", port: .tls), connection: pinned))
            }
        }
    }

    /// The engine's own memory: whoever writes into `Data` of it writes into a copy, and it outlives the response.
    @Test func dataOfARealBodyIsAValue() async throws {
        var left = Data()
        try await Client.with(Nginx.client()) { client in
            let response = try await client.run(Get(path: "/1k"))
            let before = response.body.bytes
            var mine = response.body.data
            mine[0] ^= 0xFF
            #expect(response.body.bytes == before)
            #expect(Array(response.body.data) == before)
            left = response.body.data
        }
        left[1] ^= 0xFF
        left.append(7)
        #expect(left.count == 1025)
    }

    @Test func encodingsAreDecoded() async throws {
        try await Client.with(Nginx.client()) { client in
            var options = ConnectionOptions()
            options.encodings = .gzip
            let response = try await client.run(Get(path: "/gzip/64k", connection: options))
            #expect(response.body.count == 65536)
            #expect(response.metrics.wasDecoded)
        }
    }

    @Test func encodingsAreAskedForAndDecodedByDefault() async throws {
        try await Client.with(Nginx.client()) { client in
            let response = try await client.run(Get(path: "/gzip/64k"))
            #expect(response.body.count == 65536)
            #expect(response.metrics.wasDecoded)
            let raw = try await client.run(Get(path: "/gzip/64k", connection: ConnectionOptions(encodings: [])))
            #expect(raw.body.count == 65536)
            #expect(!raw.metrics.wasDecoded)
        }
    }

    /// Those of a bomb, too.
    @Test func whatIsDecodedByDefaultHasItsLimit() async throws {
        try await Client.with(Nginx.client()) { client in
            let small = Get(path: "/gzip/64k", limits: Limits(decodedBytes: 65535))
            await #expect(throws: ErrandError.limitDecodedBytes) { try await client.run(small) }
            let large = Get(path: "/gzip/64k", limits: Limits(bodyBytes: 65535, decodedBytes: 65536))
            let count = try await client.run(large).body.count
            #expect(count == 65536)
        }
    }
}
