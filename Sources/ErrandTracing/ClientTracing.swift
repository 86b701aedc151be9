import Errand
public import Tracing

/// Makes spans for the requests of a client with swift-distributed-tracing, by OpenTelemetry's conventions for HTTP
/// clients.
///
/// ```swift
/// configuration.tracing = ClientTracing()
/// let client = Client(configuration: configuration)
/// ```
///
/// Each **attempt on the wire** is a span of kind `client`: each redirect, replay, retry and hedge has its own, with its
/// number as `http.request.resend_count`. The span is named by the method, or by the method and
/// ``/Errand/Command/urlTemplate``, never by a URL. A response from the cache has no span.
///
/// The parent of the spans is the `ServiceContext` of the code that starts the request. It is taken there and goes with the
/// request: through the callback queue, redirects, retries, the children of a group and token refreshes. A transfer that
/// requests share belongs to the request that opened it; the spans of the other requests link to its attempt. A request
/// that may be sent several times has a span of kind `internal` around its attempts (``Options/requestSpans``), and a
/// group has one around its children. Without such a span, each further attempt links to the attempt before it.
///
/// Interceptors, validators, filters, delegates, closures and accessories are called with that context as
/// `ServiceContext.current`, so their logs have the trace id, and requests that they start belong to the trace.
///
/// **When spans end.** A span begins when the attempt is handed to the engine, so it includes the wait for admission, and
/// ends with the attempt. The span of a streamed response (``/Errand/Client/stream(_:overrides:)``, downloads,
/// WebSockets) ends with the head. How long the caller reads, and whether it reads to the end, is not part of the span.
/// Each span ends exactly once, whether the attempt succeeds, fails, is cancelled, loses against a hedge or is refused
/// by the engine. Its duration is that of the metric `http.client.request.duration` of `ErrandMetrics`.
///
/// **Status.** A status of 400 and more, and every failure, is an error, with `error.type`. A cancellation is no error, and
/// has neither status nor `error.type`. The status of a failure has a fixed text for its kind, because
/// ``/Errand/ErrandError/message`` may quote a URL, or the part of a body that a decoder has read.
///
/// **Cost.** With tracers that do nothing, a plain request costs 7,400 more instructions and three objects. A client
/// without spans takes 21,000 instructions for it. Each further attempt (redirect, retry, hedge) has its own span and
/// objects. The span around attempts also has its own objects, as has the first attempt of a request that is streamed,
/// cached, shared, hedged, downloaded or reports events. The work of a tracer that records is added: attributes,
/// events, and the fields that it injects.
///
/// **Propagation.** The tracer injects `traceparent`, `tracestate` and `baggage`, or the fields that it uses instead,
/// into each attempt. Fields of these names are replaced, and no field is added twice. ``Options/propagation`` names
/// the hosts that get them; a service of another origin that a redirect leads to gets no baggage.
///
/// Clients may share one object. Any thread. The tracer is called on the threads that start requests, on callback queues,
/// and on a loop thread if a shared transfer is resent there. Starting a span and injecting must therefore not block.
/// Sources: OpenTelemetry semantic conventions v1.44, `docs/http/http-spans.md`; W3C Trace Context and Baggage.
public final class ClientTracing: Sendable {
    /// What the spans contain.
    public let options: Options
    let tracer: any Tracer
    let instrument: any Instrument
    /// The redaction of URLs and header fields.
    let redaction: Redaction
    private let knowsGet: Bool

    /// Makes the tracing of one client or several.
    ///
    /// - Parameters:
    ///   - options: what the spans contain.
    ///   - tracer: makes the spans and injects the context. `nil`, the default: `InstrumentationSystem.tracer` makes the
    ///     spans and `InstrumentationSystem.instrument` injects, both as they are now. So make this object after
    ///     `InstrumentationSystem.bootstrap`.
    public init(_ options: Options = Options(), tracer: (any Tracer)? = nil) {
        self.options = options
        knowsGet = options.knownMethods.contains(Self.get)
        if let tracer {
            self.tracer = tracer
            instrument = tracer
        } else {
            self.tracer = InstrumentationSystem.tracer
            instrument = InstrumentationSystem.instrument
        }
        var redaction = options.redaction
        redaction.parameters.formUnion(Self.signatureParameters)
        self.redaction = redaction
    }

    private static let get = "GET"

    /// Whether `http.request.method` may have this value. Most are GET, which is not hashed.
    func knows(_ method: String) -> Bool { method == Self.get ? knowsGet : options.knownMethods.contains(method) }

    /// The parameters of a query whose values the conventions hide in `url.full`, in addition to those of
    /// ``Options/redaction``.
    public static let signatureParameters: Set<String> = [
        "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "AWSAccessKeyId", "Signature", "sig",
        "X-Goog-Signature",
    ]
}
