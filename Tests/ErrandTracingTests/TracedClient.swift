import Errand
import ErrandTesting
import ErrandTracing
import InMemoryTracing
import Synchronization
import Testing
import Tracing

struct GetUser: Command {
    var id = 1
    var path: String { "users/\(id)" }
    var urlTemplate: String { "/users/{id}" }
    typealias Response = String
}

struct GetText: Command {
    var path = "text"
    var options: CommandOptions = []
    typealias Response = String
}

/// A client on a stub, and the tracer that has its spans.
struct TracedClient {
    let tracer = InMemoryTracer()
    let client: Client

    init(
        _ stub: StubTransport, _ options: ClientTracing.Options = ClientTracing.Options(),
        _ change: (inout Client.Configuration) -> Void = { _ in }
    ) {
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.tracing = ClientTracing(options, tracer: tracer)
        change(&configuration)
        client = Client(configuration: configuration, transport: stub)
    }

    /// The ended spans of attempts, in the order of their ends.
    var attempts: [FinishedInMemorySpan] { tracer.finishedSpans.filter { $0.kind == .client } }
    /// The ended spans around attempts.
    var requests: [FinishedInMemorySpan] { tracer.finishedSpans.filter { $0.kind == .internal } }

    /// The only ended span of an attempt.
    func attempt() throws -> FinishedInMemorySpan {
        #expect(attempts.count == 1)
        return try #require(attempts.first)
    }

    /// Shuts the client down. Each span has ended then.
    func finish() async {
        await client.shutdown(.cancel)
        #expect(tracer.activeSpans.isEmpty)
    }
}

extension FinishedInMemorySpan {
    func text(_ name: String) -> String? {
        guard case .string(let text)? = attributes.get(name) else { return nil }
        return text
    }

    func number(_ name: String) -> Int64? {
        guard case .int64(let number)? = attributes.get(name) else { return nil }
        return number
    }

    var isError: Bool { status?.code == .error }

    var nanoseconds: UInt64 { endInstant.nanosecondsSinceEpoch - startInstant.nanosecondsSinceEpoch }
}

/// Runs `body` in the context of a span. Not asynchronous, so that `withValue` is not either.
func within<Value>(_ span: InMemorySpan, _ body: () -> Value) -> Value {
    ServiceContext.withValue(span.context) { body() }
}

/// The tracing of a task with this tracer.
func tracing(inTaskOf tracer: InMemoryTracer) -> ClientTracing {
    withTracer(tracer) { ClientTracing() }
}

/// What was noted on other threads.
final class Notes<Element: Sendable>: Sendable {
    private let noted = Mutex<[Element]>([])

    func add(_ element: Element) {
        noted.withLock { $0.append(element) }
    }

    var all: [Element] { noted.withLock { $0 } }
}

/// Sends the fields of W3C. Its spans are those of an ``InMemoryTracer``.
struct W3CTracer: Tracer {
    var base = InMemoryTracer()
    /// Empty: none.
    var state = "errand=1"
    /// Empty: not injected at all.
    var baggage = "user=ada"

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> InMemorySpan {
        base.startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID,
            line: line)
    }

    func forceFlush() {}

    func inject<Carrier, Inject>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
    where Inject: Injector, Carrier == Inject.Carrier {
        guard let span = context.inMemorySpanContext else { return }
        injector.inject("00-\(span.traceID)-\(span.spanID)-01", forKey: "traceparent", into: &carrier)
        injector.inject(state, forKey: "tracestate", into: &carrier)
        if !baggage.isEmpty { injector.inject(baggage, forKey: "baggage", into: &carrier) }
    }

    func extract<Carrier, Extract>(_ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract)
    where Extract: Extractor, Carrier == Extract.Carrier {}
}
