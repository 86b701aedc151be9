import Errand
import Glibc
package import InMemoryTracing
import ServiceLifecycle
package import Tracing

/// Writes spans to a file: each line is OTLP as JSON, in the format of OpenTelemetry's file exporter. The trace context
/// of callers is read and passed on in the format of W3C Trace Context. All traces are sampled.
package struct FileTracer: Tracer, Service {
    package typealias Span = InMemorySpan

    private struct TraceState: InstrumentationContextKey {
        typealias Value = String
    }

    private let spans = InMemoryTracer(
        idGenerator: .init(nextTraceID: { FileTracer.hex(16) }, nextSpanID: { FileTracer.hex(8) }),
        recordInjections: false, recordExtractions: false)
    private let file: Int32

    package init(path: String) throws {
        file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw TraceFileError(path: path, errorCode: errno) }
    }

    /// Writes twice a second, and a last time when everything else has ended.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                export()
                try? await Task.sleep(for: .milliseconds(500))
            }
        }
        export()
    }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> InMemorySpan {
        spans.startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID,
            line: line)
    }

    package func forceFlush() { export() }

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        let parts = extractor.extract(key: "traceparent", from: carrier)?.split(separator: "-") ?? []
        guard parts.count >= 4, parts[0] != "ff", parts[1].utf8.count == 32, parts[2].utf8.count == 16,
            parts[1].allSatisfy(\.isHexDigit), parts[2].allSatisfy(\.isHexDigit)
        else { return }
        context.inMemorySpanContext = InMemorySpanContext(
            traceID: parts[1].lowercased(), spanID: parts[2].lowercased(), parentSpanID: nil)
        context[TraceState.self] = extractor.extract(key: "tracestate", from: carrier)
    }

    package func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let span = context.inMemorySpanContext else { return }
        injector.inject("00-\(span.traceID)-\(span.spanID)-01", forKey: "traceparent", into: &carrier)
        if let state = context[TraceState.self] { injector.inject(state, forKey: "tracestate", into: &carrier) }
    }

    private func export() {
        let ended = spans.popFinishedSpans()
        guard !ended.isEmpty else { return }
        let resource: JSONValue = ["attributes": [["key": "service.name", "value": ["stringValue": "gateway"]]]]
        let scope: JSONValue = ["scope": ["name": "gateway"], "spans": .array(ended.map(\.json))]
        let line: JSONValue = ["resourceSpans": [["resource": resource, "scopeSpans": [scope]]]]
        var text = line.description + "\n"
        // A full disk loses spans, but no requests.
        text.withUTF8 { _ = write(file, $0.baseAddress, $0.count) }
    }

    private static func hex(_ bytes: Int) -> String {
        // Neither id may be zero.
        (0..<bytes).map { _ in
            let text = String(UInt8.random(in: 1...255), radix: 16)
            return text.utf8.count == 1 ? "0" + text : text
        }.joined()
    }
}

struct TraceFileError: Error {
    let path: String
    let errorCode: Int32
}

extension FinishedInMemorySpan {
    /// OTLP writes 64-bit integers as text.
    fileprivate var json: JSONValue {
        let kinds: [SpanKind: Int64] = [.internal: 1, .server: 2, .client: 3, .producer: 4, .consumer: 5]
        var members: [String: JSONValue] = [
            "traceId": .string(traceID),
            "spanId": .string(spanID),
            "name": .string(operationName),
            "kind": .integer(kinds[kind] ?? 0),
            "startTimeUnixNano": .string("\(startInstant.nanosecondsSinceEpoch)"),
            "endTimeUnixNano": .string("\(endInstant.nanosecondsSinceEpoch)"),
            "attributes": attributes.json,
            "events": .array(events.map(\.json)),
        ]
        if let parentSpanID { members["parentSpanId"] = .string(parentSpanID) }
        if let status {
            let code: Int64 = status.code == .error ? 2 : 1
            members["status"] = ["code": .integer(code), "message": .string(status.message ?? "")]
        }
        return .object(members)
    }
}

extension SpanEvent {
    fileprivate var json: JSONValue {
        ["name": .string(name), "timeUnixNano": .string("\(nanosecondsSinceEpoch)"), "attributes": attributes.json]
    }
}

extension SpanAttributes {
    fileprivate var json: JSONValue {
        var all: [JSONValue] = []
        forEach { key, value in all.append(["key": .string(key), "value": value.json]) }
        return .array(all)
    }
}

extension SpanAttribute {
    fileprivate var json: JSONValue {
        switch self {
        case .string(let value): return ["stringValue": .string(value)]
        case .bool(let value): return ["boolValue": .bool(value)]
        case .int32(let value): return ["intValue": .string("\(value)")]
        case .int64(let value): return ["intValue": .string("\(value)")]
        case .double(let value): return ["doubleValue": .number(value)]
        case .stringArray(let texts):
            let values = texts.map { text -> JSONValue in ["stringValue": .string(text)] }
            return ["arrayValue": ["values": .array(values)]]
        default: return ["stringValue": .string("\(self)")]
        }
    }
}
