import Errand
import Synchronization
import Tracing

/// The span of one attempt on the wire.
final class TracedAttempt: ObservedAttempt {
    private let tracing: ClientTracing
    private let span: any Tracing.Span
    /// When the span began, in nanoseconds since 1970.
    private let start: UInt64
    private let hasEnded = Atomic<Bool>(false)

    init(
        _ tracing: ClientTracing, _ description: RequestDescription, number: Int, _ template: URLTemplate?,
        in context: ServiceContext
    ) {
        self.tracing = tracing
        let now = DefaultTracerClock.now
        start = now.nanosecondsSinceEpoch
        let contents = AttemptContents(description, template, tracing)
        let span: any Tracing.Span = tracing.tracer.startSpan(
            contents.name, context: context, ofKind: .client, at: now)
        // A span that is not recorded, because the trace is not sampled, needs no attributes.
        if span.isRecording {
            let attributes = contents.attributes(of: description, number: number, by: tracing)
            span.updateAttributes { $0.merge(attributes) }
        }
        self.span = span
    }

    /// The context that the attempt is sent with.
    var context: ServiceContext { span.context }

    /// Links to the attempt before this one.
    func link(to former: ServiceContext) {
        if span.isRecording { span.addLink(SpanLink(context: former, attributes: [:])) }
    }

    func headArrived(_ head: Response, of scope: AttemptScope, _ note: inout AttemptNote) {
        guard note.isStreamed, claimEnd() else { return }
        let time = note.timer.timeToHead(head)
        if span.isRecording {
            record(
                AttemptEnd(head: head), phases: head.metrics, version: HTTPConventions.protocolVersion(ofHead: head),
                isStreamed: true)
        }
        span.end(at: instant(after: time))
    }

    func repeated(number: Int, of scope: AttemptScope, _ note: inout AttemptNote) {
        guard !hasEnded.load(ordering: .relaxed), span.isRecording else { return }
        span.updateAttributes { $0.set("http.request.resend_count", value: .int64(Int64(number))) }
    }

    func ended(_ result: TransferResult, of scope: AttemptScope, _ note: inout AttemptNote) {
        guard claimEnd() else { return }
        let time = note.timer.duration(of: result)
        if span.isRecording {
            let metrics = HTTPConventions.metrics(of: result)
            record(AttemptEnd(result), phases: metrics, version: metrics?.httpVersion, isStreamed: note.isStreamed)
        }
        span.end(at: instant(after: time))
    }

    func refused(_ error: ErrandError, of scope: AttemptScope, _ note: inout AttemptNote) {
        guard claimEnd() else { return }
        let time = note.timer.elapsed
        if span.isRecording {
            record(AttemptEnd(.failure(error)), phases: nil, version: nil, isStreamed: note.isStreamed)
        }
        span.end(at: instant(after: time))
    }

    /// Whether the caller is the first to end the span.
    private func claimEnd() -> Bool { !hasEnded.exchange(true, ordering: .relaxed) }

    private func record(_ end: AttemptEnd, phases: TransferMetrics?, version: String?, isStreamed: Bool) {
        if let phases, tracing.options.recordsPhases { add(phases) }
        span.updateAttributes { attributes in
            end.add(to: &attributes, by: tracing)
            attributes.set("network.protocol.version", value: version.map { .string($0) })
            if let phases { add(phases, to: &attributes, isStreamed: isStreamed) }
        }
        if end.errorType != nil { span.setStatus(SpanStatus(code: .error, message: end.message)) }
    }

    /// `time`: in nanoseconds since the beginning of the span.
    private func instant(after time: Int64) -> DefaultTracerClock.Timestamp {
        DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: start &+ UInt64(clamping: time))
    }

    private func add(_ metrics: TransferMetrics, to attributes: inout SpanAttributes, isStreamed: Bool) {
        if let peer = metrics.remoteAddress.flatMap({ ServerPlace(endpoint: $0) }) {
            attributes.set("network.peer.address", value: .string(peer.address))
            attributes.set("network.peer.port", value: .int64(Int64(peer.port)))
        }
        guard tracing.options.includesDetails else { return }
        attributes.set("http.request.body.size", value: .int64(Int64(clamping: metrics.bytesSent)))
        // The body of a stream follows after the end of the span.
        if !isStreamed {
            attributes.set("http.response.body.size", value: .int64(Int64(clamping: metrics.bytesReceived)))
        }
    }

    /// The phases that happened, as events.
    private func add(_ metrics: TransferMetrics) {
        guard metrics.sent != nil || metrics.total > .zero else { return }
        let phases: [(String, Duration?)] = [
            ("errand.admitted", Duration.zero), ("errand.resolved", metrics.resolved),
            ("errand.connected", metrics.connected),
            ("errand.secured", metrics.secured), ("errand.sent", metrics.sent),
            ("errand.first_byte", metrics.firstByte),
        ]
        for (name, time) in phases {
            guard let time else { continue }
            let sum = Int64(clamping: (metrics.queue + time).asNanoseconds)
            span.addEvent(SpanEvent(name: name, at: instant(after: sum)))
        }
    }
}
