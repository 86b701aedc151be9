import Errand
import ErrandTesting
import ErrandTracing
import InMemoryTracing
import Testing
import Tracing

/// The spans of attempts, by OpenTelemetry's conventions.
@Suite(.timeLimit(.minutes(20))) struct AttemptSpanTests {
    private func stub(_ status: Int = 200) -> StubTransport {
        StubTransport { _ in .response(status: status, body: "text") }
    }

    @Test func anAttemptHasTheAttributesOfTheConventions() async throws {
        let traced = TracedClient(stub())
        _ = try await traced.client.run(GetUser(id: 7))
        let span = try traced.attempt()
        #expect(span.operationName == "GET /users/{id}" && span.parentSpanID == nil && span.status == nil)
        #expect(span.text("http.request.method") == "GET" && span.text("http.request.method_original") == nil)
        #expect(span.text("server.address") == "test" && span.number("server.port") == 80)
        #expect(span.text("url.full") == "http://test/users/7" && span.text("url.template") == "/users/{id}")
        #expect(span.number("http.response.status_code") == 200)
        #expect(span.attributes.get("http.request.resend_count") == nil && span.attributes.get("error.type") == nil)
        #expect(span.attributes.get("url.scheme") == nil && span.attributes.get("http.request.body.size") == nil)
        // One attempt, so no span around it.
        #expect(traced.tracer.finishedSpans.count == 1)
        await traced.finish()
    }

    @Test func aRequestWithoutTemplateIsNamedByItsMethod() async throws {
        let traced = TracedClient(stub())
        _ = try await traced.client.run(RawCommand(method: .delete, url: "users/7"))
        #expect(try traced.attempt().operationName == "DELETE")
        await traced.finish()
    }

    @Test func unknownMethods() async throws {
        let traced = TracedClient(stub())
        _ = try await traced.client.run(RawCommand(method: "PURGE", url: "x", headers: []))
        let span = try traced.attempt()
        #expect(span.operationName == "HTTP" && span.text("http.request.method") == "_OTHER")
        #expect(span.text("http.request.method_original") == "PURGE")
        await traced.finish()
    }

    @Test(
        arguments: [
            ("http://ada:secret@test/x?a=1#f", "http://REDACTED:REDACTED@test/x?a=1"),
            ("http://test/x?token=secret&a=1", "http://test/x?token=REDACTED&a=1"),
            ("http://test/x?AWSAccessKeyId=secret&sig=secret", "http://test/x?AWSAccessKeyId=REDACTED&sig=REDACTED"),
        ])
    func urlsHaveNoSecrets(url: String, shown: String) async throws {
        let traced = TracedClient(stub())
        _ = try await traced.client.run(RawCommand(url: url))
        #expect(try traced.attempt().text("url.full") == shown)
        await traced.finish()
    }

    @Test func statusesAndFailures() async throws {
        let stub = StubTransport { description in
            if description.url.hasSuffix("late") { return .failure(.timeoutIdle) }
            if description.url.hasSuffix("full") { return .refuse(.queueFull) }
            return .response(status: Int(description.url.suffix(3)) ?? 500)
        }
        let traced = TracedClient(stub)
        for path in ["204", "304", "404", "503", "late", "full"] {
            _ = await traced.client.result(of: GetText(path: path))
        }
        #expect(traced.attempts.map(\.isError) == [false, false, true, true, true, true])
        #expect(
            traced.attempts.map { $0.text("error.type") } == [nil, nil, "404", "503", "timeoutIdle", "queueFull"])
        // The status says it all.
        #expect(traced.attempts.map { $0.status?.message != nil } == [false, false, false, false, true, true])
        await traced.finish()
    }

    /// The text of an error may quote a URL, or what a decoder has read.
    @Test func statusesQuoteNothing() async throws {
        let error = ErrandError.receiveFailed.with(message: "got s3cret from http://ada:s3cret@h/?token=s3cret")
        for spans in [ClientTracing.RequestSpans.always, .never] {
            let traced = TracedClient(StubTransport { _ in .failure(error) }, .init(requestSpans: spans))
            _ = await traced.client.result(of: GetText())
            let texts = traced.tracer.finishedSpans.compactMap { $0.status?.message }
            #expect(texts.count == (spans == .always ? 2 : 1))
            #expect(texts.allSatisfy { $0 == "receiving the response failed" }, "\(texts)")
            await traced.finish()
        }
    }

    @Test func aStopIsNoError() async throws {
        let stub = StubTransport()
        let traced = TracedClient(stub)
        let request = traced.client.start(GetText())
        #expect(traced.tracer.activeSpans.count == 1)
        request.stop()
        try await waitUntil("the span has ended") { traced.attempts.count == 1 }
        let span = try traced.attempt()
        #expect(span.status == nil && span.attributes.get("error.type") == nil)
        await traced.finish()
    }

    @Test func aShutdownEndsAllSpans() async throws {
        let stub = StubTransport()
        let traced = TracedClient(stub)
        for _ in 0..<3 { traced.client.start(GetText()) }
        traced.client.start(GetText(options: .coalesced))
        #expect(traced.tracer.activeSpans.count == 4)
        await traced.finish()
        #expect(traced.attempts.count == 4 && traced.attempts.allSatisfy { $0.status == nil })
    }

    /// The caller may read for any time, or not at all.
    @Test func theSpanOfAStreamEndsWithTheHead() async throws {
        let stub = StubTransport()
        let traced = TracedClient(stub)
        async let streamed = traced.client.stream(GetText())
        try await waitUntil("the transfer is open") { !stub.open.isEmpty }
        let id = stub.open[0]
        stub.send(.head(Response(statusCode: 200)), to: id)
        let response = try await streamed
        #expect(try traced.attempt().number("http.response.status_code") == 200)
        #expect(traced.tracer.activeSpans.isEmpty)
        stub.complete(id, with: .failure(.connectionLost))
        await #expect(throws: ErrandError.self) { for try await _ in response.body {} }
        #expect(try traced.attempt().status == nil)
        await traced.finish()
    }

    /// What the engine has measured: the duration, and the phases as events.
    @Test func phasesAreEvents() async throws {
        var transfer = TransferMetrics()
        transfer.queue = .milliseconds(100)
        transfer.resolved = .milliseconds(10)
        transfer.connected = .milliseconds(20)
        transfer.sent = .milliseconds(21)
        transfer.firstByte = .milliseconds(60)
        transfer.total = .milliseconds(80)
        transfer.bytesReceived = 4
        transfer.httpVersion = "1.1"
        transfer.remoteAddress = "[::1]:8080"
        let response = Response(statusCode: 200, headers: [:], body: Array("text".utf8), metrics: transfer)
        let traced = TracedClient(StubTransport { _ in .response(response) }, .init(includesDetails: true))
        _ = try await traced.client.run(GetText())
        let span = try traced.attempt()
        #expect(span.nanoseconds == 180_000_000)
        let start = span.startInstant.nanosecondsSinceEpoch
        let events = span.events.map { "\($0.name) \(($0.nanosecondsSinceEpoch - start) / 1_000_000)" }
        #expect(
            events == [
                "errand.admitted 100", "errand.resolved 110", "errand.connected 120", "errand.sent 121",
                "errand.first_byte 160",
            ])
        #expect(span.text("network.protocol.version") == "1.1" && span.text("network.peer.address") == "::1")
        #expect(span.number("network.peer.port") == 8080 && span.number("http.response.body.size") == 4)
        #expect(span.text("url.scheme") == "http" && span.text("user_agent.original") == "errand/0.1")
        await traced.finish()
    }

    @Test func listedFields() async throws {
        let stub = StubTransport { _ in
            .response(status: 200, headers: [.server: "s", .setCookie: "a=b"], body: "text")
        }
        let options = ClientTracing.Options(
            requestHeaders: [.accept, .authorization, .cookie], responseHeaders: [.server, .setCookie])
        let traced = TracedClient(stub, options)
        _ = try await traced.client.run(
            RawCommand(url: "x", headers: [.accept: "a/b", .authorization: "Bearer secret"]))
        let span = try traced.attempt()
        #expect(span.attributes.get("http.request.header.accept") == .stringArray(["a/b"]))
        #expect(span.attributes.get("http.request.header.authorization") == .stringArray(["REDACTED"]))
        #expect(span.attributes.get("http.request.header.cookie") == nil)
        #expect(span.attributes.get("http.response.header.server") == .stringArray(["s"]))
        #expect(span.attributes.get("http.response.header.set-cookie") == .stringArray(["REDACTED"]))
        await traced.finish()
    }

    // MARK: Propagation

    private func client(
        _ tracer: W3CTracer, _ stub: StubTransport, _ propagation: ClientTracing.Propagation = .all
    ) -> Client {
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.tracing = ClientTracing(.init(propagation: propagation), tracer: tracer)
        return Client(configuration: configuration, transport: stub)
    }

    private static func values(_ name: String, _ description: RequestDescription?) -> [String] {
        guard let name = HTTPField.Name(name) else { return [] }
        return description?.headers.fields[values: name] ?? []
    }

    /// A gateway passes on the fields of its own caller: they are replaced.
    @Test func fieldsAreReplaced() async throws {
        let stub = StubTransport { description in
            description.url.hasSuffix("next")
                ? .response(status: 200, body: "text") : .response(status: 302, headers: [.location: "/next"])
        }
        let client = client(W3CTracer(), stub)
        let stale = [("traceparent", "00-old-old-00"), ("TraceState", "old=1"), ("baggage", "old=1")]
        let command = try RawCommand(method: "GET", url: "first", headers: stale.map { (name: $0.0, value: $0.1) })
        _ = try await client.run(command)
        let parents = stub.submitted.map { Self.values("traceparent", $0) }
        #expect(parents == [["00-trace-1-span-1-01"], ["00-trace-2-span-2-01"]])
        for sent in stub.submitted {
            #expect(Self.values("tracestate", sent) == ["errand=1"] && Self.values("baggage", sent) == ["user=ada"])
        }
        await client.shutdown()
    }

    /// A `tracestate` belongs to its `traceparent`.
    @Test func aStaleStateGoesWithItsParent() async throws {
        let stub = stub()
        let client = client(W3CTracer(state: ""), stub)
        _ = try await client.run(
            try RawCommand(method: "GET", url: "x", headers: [(name: "tracestate", value: "old=1")]))
        #expect(Self.values("tracestate", stub.submitted.first).isEmpty)
        await client.shutdown()
    }

    /// So does a `baggage`.
    @Test func aStaleBaggageGoesWithItsParent() async throws {
        let stub = stub()
        let client = client(W3CTracer(baggage: ""), stub)
        _ = try await client.run(try RawCommand(method: "GET", url: "x", headers: [(name: "baggage", value: "old=1")]))
        #expect(Self.values("baggage", stub.submitted.first).isEmpty)
        #expect(Self.values("traceparent", stub.submitted.first).count == 1)
        await client.shutdown()
    }

    /// The caller has not chosen the service that a redirect leads to.
    @Test func baggageStaysWithTheOrigin() async throws {
        let stub = StubTransport { description in
            description.url.hasSuffix("next")
                ? .response(status: 200, body: "text")
                : .response(status: 302, headers: [.location: "http://other/next"])
        }
        let client = client(W3CTracer(), stub)
        _ = try await client.run(GetText())
        #expect(stub.submitted.map { Self.values("traceparent", $0).count } == [1, 1])
        #expect(stub.submitted.map { Self.values("baggage", $0) } == [["user=ada"], []])
        await client.shutdown()
    }

    @Test func theContextGoesToListedHosts() async throws {
        let stub = stub()
        let client = client(W3CTracer(), stub, .hosts(["Test"]))
        for url in ["http://test:81/", "http://other/"] { _ = try await client.run(RawCommand(url: url)) }
        #expect(stub.submitted.map { Self.values("traceparent", $0).count } == [1, 0])
        #expect(stub.submitted.map { Self.values("baggage", $0).count } == [1, 0])
        await client.shutdown()
    }

    @Test func withoutPropagationNothingIsAdded() async throws {
        let stub = stub()
        let client = client(W3CTracer(), stub, .none)
        _ = try await client.run(GetText())
        #expect(Self.values("traceparent", stub.submitted.first).isEmpty)
        await client.shutdown()
    }
}
