import Errand
import Tracing

/// The header fields that an instrument sends a context with.
struct InjectedFields {
    private let fields: [(name: HTTPField.Name, value: String)]

    init(_ context: ServiceContext, by instrument: any Instrument) {
        var carrier: [Pair] = []
        instrument.inject(context, into: &carrier, using: PairInjector())
        guard !carrier.isEmpty else {
            fields = []
            return
        }
        fields = carrier.compactMap { pair in HTTPField.Name(pair.name).map { (name: $0, value: pair.value) } }
    }

    /// Whether there are no fields, as with a tracer that does nothing.
    var isEmpty: Bool { fields.isEmpty }

    /// Sets the fields. Fields of these names are replaced: those of the caller, or of an attempt before. A `tracestate`
    /// and a `baggage` belong to the context of their `traceparent` (W3C Trace Context 3.3), so they are removed with
    /// the former `traceparent`. Without `withBaggage` no `baggage` is set.
    func replace(in headers: inout HeaderBlock, withBaggage: Bool) {
        guard !fields.isEmpty else { return }
        if fields.contains(where: { $0.name.canonicalName == "traceparent" }) {
            for name in Self.followers { headers.remove(name) }
        }
        for field in fields {
            // An empty value says nothing; a value with line breaks cannot be sent.
            if field.value.isEmpty || !withBaggage && field.name.canonicalName == "baggage" {
                headers.remove(field.name)
            } else {
                try? headers.set(field.name, to: field.value)
            }
        }
    }

    /// `trace_id` and `span_id`, the keys of OpenTelemetry's logs, by the `traceparent` (W3C Trace Context 3.2); empty: there
    /// is none.
    var logMetadata: [String: String] {
        guard let parent = fields.first(where: { $0.name.canonicalName == "traceparent" }) else { return [:] }
        let parts = parent.value.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[1].utf8.count == 32, parts[2].utf8.count == 16 else { return [:] }
        return ["trace_id": String(parts[1]), "span_id": String(parts[2])]
    }

    private static let followers = ["tracestate", "baggage"].compactMap { HTTPField.Name($0) }

    private struct Pair: Sendable {
        let name: String
        let value: String
    }

    private struct PairInjector: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout [Pair]) {
            carrier.append(Pair(name: key, value: value))
        }
    }
}
