import Errand
import ErrandTesting
import HTTPTypes
import Testing

/// The code of the guide "Testing"; GuideTests compares it line by line.
@Suite struct TestingSnippets {
    private typealias GetUser = GettingStartedSnippets.GetUser
    private typealias CreateUser = CommandsSnippets.CreateUser
    private typealias Signing = InterceptorsSnippets.Signing

    @Test func stubbed() async throws {
        let stub = StubTransport { description in
            description.url.hasSuffix("/users/1")
                ? .response(status: 200, headers: [.contentType: "application/json"], body: #"{"name": "Ada"}"#)
                : .response(status: 404)
        }
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: stub)
        let user = try await client.run(GetUser(id: 1))
        #expect(user.name == "Ada")
        #expect(stub.submitted.map(\.url) == ["http://test/users/1"])
    }

    @Test func held() async throws {
        let stub = StubTransport()
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: stub)
        let request = client.start(GetUser(id: 1))
        for id in stub.open { stub.complete(id, with: .failure(.timeoutIdle)) }
        await client.shutdown()
        #expect(request.error == .timeoutIdle)
    }

    @Test func described() async throws {
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: StubTransport())
        let description = try client.describe(CreateUser(name: "Ada"))
        #expect(description.method == .post)
        #expect(String(decoding: description.bodyBytes, as: UTF8.self) == #"{"name":"Ada"}"#)
    }

    @Test func intercepted() async throws {
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: StubTransport())
        let request = try client.describe(CreateUser(name: "Ada"))
        let next = InterceptorNext { request in
            Response(statusCode: request.headers[.authorization] == nil ? 401 : 200)
        }
        let signing = Signing(sign: { "\($0.count) bytes" })
        let response = try await signing.intercept(request, in: .testing(), next: next)
        #expect(response.statusCode == 200)
        let prepared = try await signing.prepare(request, in: .testing())
        #expect(prepared.headers[.authorization] == "14 bytes")
    }

    @Test func timed() async throws {
        let clock = ManualClock()
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.clock = clock
        let client = Client(configuration: configuration, transport: StubTransport())
        let request = client.start(GetUser(id: 1))
        async let ended: Void = client.shutdown(.drain(within: .seconds(5)))
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        await ended
        #expect(request.error == .shutDown)
    }

    @Test func recorded() async throws {
        let accessory = RecordingAccessory()
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.accessories = [accessory]
        let client = Client(configuration: configuration, transport: StubTransport { _ in .response(status: 500) })
        _ = await client.result(of: GetUser(id: 1))
        #expect(accessory.isBalanced)
    }

    @Test func eventful() async throws {
        let recorder = EventRecorder()
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.accessories = [recorder]
        let client = Client(configuration: configuration, transport: StubTransport { _ in .failure(.connectFailed) })
        _ = await client.result(of: GetUser(id: 1))
        #expect(recorder.names == ["willStart", "queued", "willStop", "didStop"])
    }

    @Test func grouped() async throws {
        let stub = StubTransport { description in
            .response(status: description.url.hasSuffix("/2") ? 500 : 200, body: #"{"name": "Ada"}"#)
        }
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: stub)
        let result = try await client.run(Batch([1, 2, 3].map(GetUser.init), policy: .collectAll))
        #expect(result.values.count == 2)
        #expect(result.failures.map(\.index) == [1])
        await client.shutdown(.cancel)
    }

    @Test func scripted() async throws {
        let server = try ScriptedServer()
        try server.on("/users/1", [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), .reset])
        let client = Client(configuration: .init(baseURL: server.url("/")))
        let result = await client.result(of: GetUser(id: 1))
        #expect(throws: ErrandError.self) { try result.get() }
        #expect(server.requests.map(\.method) == ["GET"])
        await client.shutdown()
    }
}
