import Errand
import ErrandTesting
import HTTPTypes
import Testing

/// Each way in which a server can be bad has one ending, and the right error.
@Suite struct BadServerTests {
    private func error(
        _ steps: [ScriptedServer.Step], timeouts: Timeouts? = nil, limits: Limits? = nil,
        encodings: ConnectionOptions.Encodings = []
    ) async throws -> ErrandError? {
        let server = try ScriptedServer()
        try server.on(nil, steps)
        var command = Get(path: server.url("/x"), timeouts: timeouts, limits: limits)
        command.connection = ConnectionOptions(encodings: encodings)
        let client = Client(configuration: .patient())
        let byAsync = await client.result(of: command)
        let request = await withCheckedContinuation { continuation in
            client.start(command, completion: { continuation.resume(returning: $0) })
        }
        await client.shutdown()
        guard case .failure(let error) = byAsync else { return nil }
        #expect(request.error == error)
        return error
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"

    @Test func resets() async throws {
        #expect(try await error([.reset]) == .connectionLost)
        #expect(try await error([.send(Self.ok + "Content-"), .sleep(milliseconds: 20), .reset]) == .receiveFailed)
        let inBody = try await error([
            .send(Self.ok + "Content-Length: 9\r\n\r\nhalf"), .sleep(milliseconds: 50), .reset,
        ])
        #expect(inBody == .receiveFailed || inBody == .partialBody)
    }

    @Test func halfBodies() async throws {
        let short = try await error([.send(Self.ok + "Content-Length: 9\r\n\r\nhalf"), .close])
        #expect(short == .partialBody)
        #expect(short?.statusCode == 200)
        let chunked = Self.ok + "Transfer-Encoding: chunked\r\n\r\n8\r\nhalf"
        #expect(try await error([.send(chunked), .close]) == .partialBody)
    }

    @Test func garbage() async throws {
        #expect(try await error([.send("garbage\r\n\r\n"), .close]) == .malformedResponse)
    }

    @Test func limits() async throws {
        let endless = [ScriptedServer.Step.send(Self.ok + "\r\n"), .sendRepeated("0123456789", times: nil)]
        #expect(try await error(endless, limits: Limits(bodyBytes: 100_000)) == .limitBodyBytes)
        let header = [ScriptedServer.Step.send(Self.ok), .sendRepeated("A: b\r\n", times: nil)]
        #expect(try await error(header, limits: Limits(headerCount: 50)) == .limitHeaderCount)
        #expect(try await error(header, limits: Limits(headerBytes: 4096, headerCount: 100_000)) == .limitHeaderBytes)
        let bomb = [ScriptedServer.Step.gzipZeros(50_000_000)]
        #expect(
            try await error(bomb, limits: Limits(decodedBytes: 1_000_000), encodings: .gzip) == .limitDecodedBytes)
    }

    @Test func silence() async throws {
        let short = Duration.milliseconds(80)
        #expect(try await error([.stall], timeouts: Timeouts(idle: .after(short))) == .timeoutIdle)
        #expect(try await error([.stall], timeouts: Timeouts(firstByte: .after(short))) == .timeoutFirstByte)
        #expect(try await error([.stall], timeouts: Timeouts(total: .after(short))) == .timeoutTotal)
    }

    @Test func refusedAndUnresolvable() async throws {
        let port = try FaultPort(.refused)
        try await Client.with(Client(configuration: .patient())) { client in
            await #expect(throws: ErrandError.connectFailed) {
                try await client.run(Get(path: "http://127.0.0.1:\(port.number)/"))
            }
            let result = await client.result(of: Get(path: "http://127.0.0.1:\(port.number)/"))
            guard case .failure(let error) = result else {
                Issue.record("succeeded")
                return
            }
            #expect(error.curlCode == 7)
            #expect(error.response == nil)
            #expect(!error.message.isEmpty)
        }
    }

    /// A `Location` that cannot be sent is the server's fault, with its response and the reason.
    @Test func badLocations() async throws {
        let server = try ScriptedServer()
        let locations = ["http://127.0.0.1:99999/", "javascript:x", "file:///etc/passwd", "mailto:a@b"]
        for (index, location) in locations.enumerated() {
            try server.on(
                "/\(index)", [.send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")])
        }
        try await Client.with(Client(configuration: .patient(baseURL: server.url("/")))) { client in
            for (index, location) in locations.enumerated() {
                guard case .failure(let error) = await client.result(of: Get(path: "\(index)")) else {
                    Issue.record("\(location) was followed")
                    continue
                }
                #expect(error == .redirectRefused, "\(location)")
                #expect(error.statusCode == 302)
                #expect(!error.isRefusal)
                #expect((error.underlyingError as? ErrandError == .invalidURL) == (index == 0))
            }
        }
    }

    /// The message says which setting is out of range, or what is not supported.
    @Test func refusalsNameTheCulprit() async throws {
        let changes: [(String, ErrandError, (inout Client.Configuration) -> Void)] = [
            ("'loops' is 65", .invalidLimit, { $0.loops = 65 }),
            ("'queueCapacity' is 4294967295", .invalidLimit, { $0.queueCapacity = 4_294_967_295 }),
            ("'inFlightLimit' is -1", .invalidLimit, { $0.inFlightLimit = -1 }),
            ("'originInFlightLimit' is 16777217", .invalidLimit, { $0.originInFlightLimit = 16_777_217 }),
            ("'maxConcurrentStreams' is 0", .invalidLimit, { $0.maxConcurrentStreams = 0 }),
            ("'bodyBytes' is \(Int.max)", .invalidLimit, { $0.limits = Limits(bodyBytes: .max) }),
            (
                "'tcpKeepaliveSeconds' is 4294967295", .invalidOption,
                { $0.connection.tcpKeepaliveSeconds = .value(.max) }
            ),
            ("'idleConnectionSeconds' is 86401", .invalidOption, { $0.connection.idleConnectionSeconds = 86401 }),
            ("'idleConnectionSeconds' is 0", .invalidOption, { $0.connection.idleConnectionSeconds = 0 }),
            ("'caFile' is empty", .invalidOption, { $0.connection.tls.caFile = "" }),
            ("'unixSocketPath' is empty", .invalidOption, { $0.connection.unixSocketPath = "" }),
        ]
        for (culprit, expected, change) in changes {
            var configuration = Client.Configuration(baseURL: "http://127.0.0.1:1/")
            change(&configuration)
            try await Client.with(Client(configuration: configuration)) { client in
                guard case .failure(let error) = await client.result(of: Get(path: "x")) else {
                    Issue.record("\(culprit) was taken")
                    return
                }
                #expect(error == expected)
                #expect(error.message.contains(culprit), "\(error)")
                #expect(error.isRefusal)
            }
        }
        try await Client.with(Client()) { client in
            let result = await client.result(of: Get(path: "http://127.0.0.1:1/", method: .connect))
            guard case .failure(let error) = result else { return #expect(Bool(false)) }
            #expect(error == .invalidMethod)
            #expect(error.message.contains("CONNECT is not supported"))
        }
    }

    /// Refused before any socket is opened.
    @Test func badInput() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        try await Client.with(Client(configuration: .patient(baseURL: server.url("/")))) { client in
            let table: [(Get, ErrandError)] = [
                (Get(path: "a\r\nb"), .invalidURL), (Get(path: "a\0b"), .invalidURL),
                (Get(path: "http://"), .invalidURL), (Get(path: "http://host:99999/"), .invalidURL),
                (Get(path: "ftp://host/"), .unsupportedScheme),
                (Get(path: "x", timeouts: Timeouts(idle: .seconds(-1))), .invalidLimit),
                (Get(path: "x", limits: Limits(bodyBytes: -1)), .invalidLimit),
                (Get(path: "x", method: .put, body: .file("/nonexistent")), .fileUnreadable),
                (Get(path: "x", connection: .init(proxy: .url("nonsense://"))), .invalidOption),
                (Get(path: "x", connection: .init(tls: .init(caFile: "/nonexistent"))), .fileUnreadable),
            ]
            for (command, expected) in table {
                let result = await client.result(of: command)
                guard case .failure(let error) = result else {
                    Issue.record("\(command.path) succeeded")
                    continue
                }
                #expect(error == expected, "\(command)")
                #expect(error.isRefusal)
            }
        }
        #expect(server.counts.connections == 0)
    }
}
