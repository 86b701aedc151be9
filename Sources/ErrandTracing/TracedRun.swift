import Errand
import Synchronization
import Tracing

/// A run of a request: the parent of its attempts' spans.
final class TracedRun: ObservedRun {
    private let tracing: ClientTracing
    /// The context of the code that has started the request; `nil`: it has none.
    private let caller: ServiceContext?
    /// The span around the attempts, or around the children of a group; `nil`: there is none.
    private let span: (any Tracing.Span)?
    /// The parent of the attempts.
    private let inside: ServiceContext
    private let template: URLTemplate?
    /// The context of the attempt that began last.
    private let lastAttempt = Mutex<ServiceContext?>(nil)

    init(_ tracing: ClientTracing, _ description: RequestDescription, _ start: RunStart) {
        self.tracing = tracing
        let caller = ServiceContext.current
        self.caller = caller
        let parent = caller ?? .topLevel
        let template = tracing.options.includesURLTemplate ? URLTemplate(start.urlTemplate, of: description.url) : nil
        self.template = template
        guard tracing.hasSpan(start) else {
            span = nil
            inside = parent
            return
        }
        let made: any Tracing.Span = tracing.tracer.startSpan(
            start.commandName, context: parent, ofKind: .internal, at: DefaultTracerClock.now)
        if let template, made.isRecording {
            made.updateAttributes { $0.set("url.template", value: .string(template.text)) }
        }
        span = made
        inside = made.context
    }

    func attemptBegins(
        _ description: RequestDescription, number: Int, of scope: AttemptScope, headers: inout HeaderBlock?
    ) -> any ObservedAttempt {
        let attempt = TracedAttempt(tracing, description, number: number, template, in: inside)
        let context = attempt.context
        let former = lastAttempt.withLock { last -> ServiceContext? in
            defer { last = context }
            return last
        }
        // Without a span around them, nothing else shows that these attempts belong to one request.
        if let former, span == nil, number > 0 { attempt.link(to: former) }
        guard tracing.options.propagation.includes(description.url) else { return attempt }
        let fields = InjectedFields(context, by: tracing.instrument)
        if !fields.isEmpty {
            var block = headers ?? description.headers
            fields.replace(in: &block, withBaggage: !description.hasLeftOrigin)
            headers = block
        }
        return attempt
    }

    var hasContext: Bool { true }

    var logMetadata: [String: String] {
        InjectedFields(lastAttempt.withLock { $0 } ?? inside, by: tracing.instrument).logMetadata
    }

    /// The context that spans of runs link to if they share a transfer of this run; `nil`: there is no span yet.
    private var linkTarget: ServiceContext? { lastAttempt.withLock { $0 } ?? (span == nil ? nil : inside) }

    func joined(_ opener: any ObservedRun) {
        guard let span, span.isRecording else { return }
        span.updateAttributes { $0.set("errand.request.shared", value: .bool(true)) }
        guard let target = (opener as? TracedRun)?.linkTarget else { return }
        span.addLink(SpanLink(context: target, attributes: [:]))
    }

    func within(_ place: RunPlace, _ body: () -> Void) {
        switch place {
        case .inside: ServiceContext.withValue(inside) { body() }
        case .beside:
            // The callbacks of most callers without a context have no context either, so nothing has to be set.
            if caller == nil, ServiceContext.current == nil { return body() }
            ServiceContext.withValue(caller) { body() }
        }
    }

    func carry<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        await ServiceContext.$current.withValue(inside) { await body() }
    }

    func ended(_ outcome: RunOutcome, of scope: AttemptScope) {
        guard let span else { return }
        defer { span.end() }
        guard span.isRecording else { return }
        span.updateAttributes { attributes in
            attributes.set("errand.request.attempts", value: .int64(Int64(scope.attempts)))
            if let cache = outcome.response?.cacheInfo?.label {
                attributes.set("errand.cache.result", value: .string(cache))
            }
            if let error = outcome.error {
                attributes.set("error.type", value: .string(error.shortDescription))
            }
        }
        if let error = outcome.error { span.setStatus(SpanStatus(code: .error, message: error.kindText)) }
    }
}

extension ClientTracing {
    /// Whether the run has a span of its own.
    fileprivate func hasSpan(_ start: RunStart) -> Bool {
        switch options.requestSpans {
        case .automatic: start.isGroup || start.maySendAgain
        case .always: true
        case .never: false
        }
    }
}
