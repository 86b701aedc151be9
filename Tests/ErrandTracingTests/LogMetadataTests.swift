import Errand
import ErrandTesting
import ErrandTracing
import InMemoryTracing
import Testing

/// What log lines show of a traced request.
@Suite struct LogMetadataTests {
    private static let trace = String(repeating: "a", count: 32)

    /// A tracer whose spans have numbers of 16 digits.
    private func tracer() -> W3CTracer {
        let spans = Notes<Int>()
        return W3CTracer(
            base: InMemoryTracer(
                idGenerator: .init(
                    nextTraceID: { Self.trace },
                    nextSpanID: {
                        spans.add(1)
                        let number = String(spans.all.count)
                        return String(repeating: "0", count: 16 - number.count) + number
                    })))
    }

    /// A request that follows a redirect.
    private func request(_ tracing: ClientTracing) async -> Request<GetText> {
        let stub = StubTransport { description in
            description.url.hasSuffix("next")
                ? .response(status: 200, body: "text") : .response(status: 302, headers: [.location: "/next"])
        }
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.tracing = tracing
        let client = Client(configuration: configuration, transport: stub)
        let request = client.request(GetText())
        #expect(request.logMetadata.isEmpty)
        request.start()
        _ = try? await request.finalValue()
        await client.shutdown()
        return request
    }

    @Test func theTraceAndTheSpanOfTheLastAttempt() async {
        let plain = await request(ClientTracing(tracer: tracer()))
        #expect(plain.logMetadata == ["trace_id": Self.trace, "span_id": "0000000000000002"])
        // The first span is that of the request.
        let around = await request(ClientTracing(.init(requestSpans: .always, propagation: .none), tracer: tracer()))
        #expect(around.logMetadata == ["trace_id": Self.trace, "span_id": "0000000000000003"])
    }

    @Test func otherFormsOfTheFieldShowNothing() async {
        #expect(await request(ClientTracing(tracer: W3CTracer())).logMetadata.isEmpty)
        #expect(await request(ClientTracing(tracer: InMemoryTracer())).logMetadata.isEmpty)
    }
}
