import CoreMetrics
import Errand
import ErrandMetrics
import ErrandTesting
import MetricsTestKit
import Testing

/// The metrics of attempts, by OpenTelemetry's names.
@Suite(.timeLimit(.minutes(20))) struct AttemptMetricsTests {
    private static let duration = "http.client.request.duration"
    private static let active = "http.client.active_requests"

    private func stub(_ status: Int = 200) -> StubTransport {
        StubTransport { _ in .response(status: status, body: "text") }
    }

    @Test func anAttemptHasTheLabelsOfTheConventions() async throws {
        let measured = MeasuredClient(stub())
        _ = try await measured.client.run(GetUser(id: 7))
        let recorder = try measured.recorder(Self.duration)
        #expect(
            words(recorder.dimensions) == [
                "http.request.method=GET", "server.address=test", "server.port=80", "url.template=/users/{id}",
                "http.response.status_code=200", "error.type=", "network.protocol.version=",
            ])
        #expect(recorder.values.count == 1 && recorder.values.allSatisfy { (0..<3600).contains($0) })
        #expect(recorder.aggregate)
        #expect(measured.meter(Self.active) == 0)
        await measured.client.shutdown()
    }

    /// The engine's own time, in seconds, and not that of the news of the end.
    @Test func whatTheEngineHasMeasuredIsRecorded() async throws {
        var transfer = TransferMetrics()
        transfer.queue = .milliseconds(500)
        transfer.total = .milliseconds(1500)
        transfer.bytesSent = 12
        transfer.bytesReceived = 34
        transfer.httpVersion = "2"
        transfer.isConnectionReused = true
        let response = Response(statusCode: 200, headers: [:], body: Array("text".utf8), metrics: transfer)
        var options = ClientMetrics.Options()
        options.recordsBodySizes = true
        options.includesScheme = true
        options.includesURLTemplate = false
        let measured = MeasuredClient(StubTransport { _ in .response(response) }, options)
        _ = try await measured.client.run(GetUser())
        let recorder = try measured.recorder(
            Self.duration, [("network.protocol.version", "2"), ("url.scheme", "http")])
        #expect(recorder.values == [2.0])
        #expect(!words(recorder.dimensions).contains { $0.hasPrefix("url.template") })
        #expect(try measured.recorder("http.client.request.body.size").values == [12])
        #expect(try measured.recorder("http.client.response.body.size").values == [34])
        #expect(try measured.recorder("errand.request.time_in_queue").values == [0.5])
        #expect(
            measured.backend.counterTotal(label: "errand.attempts", dimensions: [("errand.connection.reused", "true")])
                == 1)
        await measured.client.shutdown()
    }

    /// A ratio of the two counters needs both, and failures to connect would lower it.
    @Test func attemptsWithoutAConnectionAreNotCounted() async throws {
        var transfer = TransferMetrics()
        transfer.total = .milliseconds(1)
        let failure = ErrandError.connectFailed.with(
            response: Response(statusCode: 0, headers: [:], body: Array("".utf8), metrics: transfer))
        let measured = MeasuredClient(StubTransport { _ in .failure(failure) })
        #expect(measured.backend.counters(label: "errand.attempts").count == 2)
        _ = await measured.client.result(of: GetText())
        #expect(measured.total("errand.attempts") == 0)
        await measured.client.shutdown()
    }

    @Test func errorsHaveTheirKind() async throws {
        let stub = StubTransport { description in
            if description.url.hasSuffix("404") { return .response(status: 404) }
            return description.url.hasSuffix("late") ? .failure(.timeoutIdle) : .refuse(.queueFull)
        }
        let measured = MeasuredClient(stub)
        for path in ["404", "late", "full"] { _ = await measured.client.result(of: GetText(path: path)) }
        let labels = measured.backend.recorders(label: Self.duration).map {
            words($0.dimensions).filter { $0.contains("status") || $0.contains("error") }
        }
        #expect(
            Set(labels) == [
                ["http.response.status_code=404", "error.type=404"],
                ["http.response.status_code=", "error.type=timeoutIdle"],
                ["http.response.status_code=", "error.type=queueFull"],
            ])
        #expect(measured.meter(Self.active) == 0)
        await measured.client.shutdown()
    }

    /// A stop is no error.
    @Test func aStopHasNoErrorType() async throws {
        let stub = StubTransport()
        let measured = MeasuredClient(stub)
        let request = measured.client.start(GetText())
        #expect(measured.meter(Self.active) == 1)
        request.stop()
        // Recorded after the state has changed.
        try await waitUntil("the end of the request is recorded") {
            !measured.backend.recorders(label: "errand.request.duration").isEmpty
        }
        let recorder = try measured.recorder(Self.duration)
        #expect(words(recorder.dimensions).contains("error.type="))
        #expect(measured.meter(Self.active) == 0)
        #expect(
            try measured.recorder("errand.request.duration", [("errand.request.outcome", "cancelled")]).values.count
                == 1)
        await measured.client.shutdown()
    }

    /// The reader of a stream may take any time: the duration ends with the head.
    @Test func aStreamIsMeasuredToItsHead() async throws {
        let stub = StubTransport()
        let measured = MeasuredClient(stub)
        async let streamed = measured.client.stream(GetText())
        try await waitUntil("the transfer is open") { !stub.open.isEmpty }
        let id = stub.open[0]
        stub.send(.head(Response(statusCode: 200)), to: id)
        let response = try await streamed
        #expect(try measured.recorder(Self.duration, [("http.response.status_code", "200")]).values.count == 1)
        #expect(measured.meter(Self.active) == 1)
        stub.complete(id, with: .failure(.connectionLost))
        await #expect(throws: ErrandError.self) { for try await _ in response.body {} }
        try await waitUntil("the attempt has ended") { measured.meter(Self.active) == 0 }
        // Not a second time.
        #expect(measured.backend.recorders(label: Self.duration).flatMap(\.values).count == 1)
        // The reset is one of the request.
        let failed = [("errand.request.outcome", "failed")]
        try await waitUntil("the request has ended") {
            !measured.backend.recorders(label: "errand.request.duration").isEmpty
        }
        #expect(try measured.recorder("errand.request.duration", failed).values.count == 1)
        await measured.client.shutdown()
    }

    /// Nor that of the request: otherwise it says how long the callers read.
    @Test func aStreamedRequestIsMeasuredToItsHead() async throws {
        let stub = StubTransport()
        let measured = MeasuredClient(stub)
        let began = ContinuousClock.now
        async let streamed = measured.client.stream(GetText())
        try await waitUntil("the transfer is open") { !stub.open.isEmpty }
        let id = stub.open[0]
        stub.send(.head(Response(statusCode: 200)), to: id)
        let response = try await streamed
        let toHead = began.duration(to: .now)
        await allowTime(for: "the time of the reader is counted", .milliseconds(200))
        stub.complete(id, with: .response(Response(statusCode: 200)))
        for try await _ in response.body {}
        try await waitUntil("the request has ended") {
            !measured.backend.recorders(label: "errand.request.duration").isEmpty
        }
        let recorded = try #require(try measured.recorder("errand.request.duration").values.first)
        #expect(recorded <= toHead / Duration.seconds(1))
        await measured.client.shutdown()
    }

    /// What the engine refuses is not sent.
    @Test func refusedAttemptsAreNotCounted() async throws {
        let measured = MeasuredClient(StubTransport { _ in .refuse(.queueFull) })
        _ = await measured.client.result(of: GetText())
        #expect(try measured.recorder("errand.request.attempts").values == [0])
        await measured.client.shutdown()
    }

    @Test func eachRetryIsAnAttempt() async throws {
        let measured = MeasuredClient(stub(503)) {
            $0.resilience = Resilience(retry: RetryPolicy(backoff: .none), budget: nil)
        }
        _ = await measured.client.result(of: GetText())
        #expect(try measured.recorder(Self.duration).values.count == 3)
        #expect(try measured.recorder("errand.request.attempts").values == [3])
        let request = try measured.recorder("errand.request.duration", [("errand.request.outcome", "failed")])
        #expect(request.values.count == 1)
        #expect(words(request.dimensions).contains("error.type=statusNotAccepted"))
        await measured.client.shutdown()
    }

    /// The template is that of the path which the command asks for.
    @Test func aRedirectToAnotherPathHasNoTemplate() async throws {
        let stub = StubTransport { description in
            description.url.hasSuffix("/other")
                ? .response(status: 200, body: "text") : .response(status: 302, headers: [.location: "/other"])
        }
        let measured = MeasuredClient(stub)
        _ = try await measured.client.run(GetUser())
        #expect(
            try measured.recorder(
                Self.duration, [("http.response.status_code", "302"), ("url.template", "/users/{id}")]
            ).values.count == 1)
        #expect(
            try measured.recorder(Self.duration, [("http.response.status_code", "200"), ("url.template", "")]).values
                .count == 1)
        await measured.client.shutdown()
    }

    @Test func unknownMethodsAreOne() async throws {
        let measured = MeasuredClient(stub())
        for method in ["PURGE", "BREW"] {
            _ = try await measured.client.run(RawCommand(method: method, url: "x", headers: []))
        }
        #expect(try measured.recorder(Self.duration, [("http.request.method", "_OTHER")]).values.count == 2)
        await measured.client.shutdown()
    }

    /// A client of arbitrary hosts.
    @Test func labelSetsAreBounded() async throws {
        let measured = MeasuredClient(stub(), ClientMetrics.Options(labelSetLimit: 2))
        for host in ["a", "b", "c", "d", "a"] {
            _ = try await measured.client.run(RawCommand(url: "http://\(host):81/secret?token=\(host)"))
        }
        let recorders = measured.backend.recorders(label: Self.duration)
        let counts = recorders.map { recorder in
            words(recorder.dimensions).filter { $0.hasPrefix("server") }.joined(separator: " ")
                + " \(recorder.values.count)"
        }
        #expect(
            Set(counts) == [
                "server.address=a server.port=81 2", "server.address=b server.port=81 1",
                "server.address=_OTHER server.port= 2",
            ])
        #expect(!"\(measured.backend)".contains("secret"))
        #expect(measured.backend.meters(label: Self.active).allSatisfy { $0.lastValue == 0 })
        await measured.client.shutdown()
    }

    /// The first error of the main server comes late, and must be seen.
    @Test func theErrorsOfAnAdmittedServerAreItsOwn() async throws {
        let stub = StubTransport { description in
            .response(status: description.url.hasSuffix("bad") ? 503 : 200, body: "text")
        }
        let measured = MeasuredClient(stub, ClientMetrics.Options(labelSetLimit: 1))
        for url in ["http://a/", "http://b/", "http://a/bad", "http://b/bad"] {
            _ = await measured.client.result(of: RawCommand(url: url))
        }
        for address in ["a", "_OTHER"] {
            for status in ["200", "503"] {
                let labels = [("server.address", address), ("http.response.status_code", status)]
                #expect(try measured.recorder(Self.duration, labels).values.count == 1)
            }
            #expect(
                try measured.recorder("errand.request.duration", [("server.address", address)]).values.count == 2)
        }
        #expect(measured.backend.meters(label: Self.active).count == 2)
        await measured.client.shutdown()
    }

    @Test func addressesHaveNoBrackets() async throws {
        let measured = MeasuredClient(stub())
        _ = try await measured.client.run(RawCommand(url: "https://user:secret@[::1]/"))
        _ = try measured.recorder(Self.duration, [("server.address", "::1"), ("server.port", "443")])
        await measured.client.shutdown()
    }
}
