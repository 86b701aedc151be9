import CoreMetrics
import Errand
import ErrandMetrics
import ErrandTesting
import MetricsTestKit
import Testing

/// The names, kinds, units and attributes of all metrics, compared with OpenTelemetry's model and with the documents.
@Suite(.timeLimit(.minutes(20))) struct MetricsConventionsTests {
    /// A metric with one label set.
    private struct Recorded {
        let label: String
        let instrument: String
        let dimensions: [(String, String)]

        var names: Set<String> { Set(dimensions.map(\.0)) }
    }

    private static let document = "Sources/ErrandMetrics/ErrandMetrics.docc/ErrandMetrics.md"
    private let conventions: Conventions

    init() throws {
        conventions = try Conventions.read()
    }

    private static func response(_ status: Int) -> Response {
        var transfer = TransferMetrics()
        transfer.total = .milliseconds(5)
        transfer.bytesSent = 1
        transfer.bytesReceived = 4
        transfer.httpVersion = "1.1"
        return Response(statusCode: status, headers: [:], body: Array("text".utf8), metrics: transfer)
    }

    /// What a client records with all options: answers, failures, retries, an open breaker, hits of the cache.
    private func recorded(omitsEmptyLabels: Bool = false) async throws -> [Recorded] {
        struct GetCached: Command {
            var path: String { "cached" }
            var cache: CachePolicy { .timed(.seconds(60)) }
            typealias Response = String
        }
        let stub = StubTransport { description in
            if description.url.hasSuffix("late") { return .failure(.timeoutIdle) }
            return .response(Self.response(description.url.contains("bad") ? 503 : 200))
        }
        var options = ClientMetrics.Options()
        options.includesScheme = true
        options.recordsBodySizes = true
        options.omitsEmptyLabels = omitsEmptyLabels
        let measured = MeasuredClient(stub, options) {
            $0.resilience = Resilience(
                retry: RetryPolicy(backoff: .none), breaker: BreakerPolicy(window: .count(6), minimumCalls: 6))
        }
        for path in ["http://bad/", "http://bad/", "http://bad/", "http://slow/late"] {
            _ = await measured.client.result(of: RawCommand(url: path))
        }
        for method in ["DELETE", "PURGE"] {
            _ = try await measured.client.run(RawCommand(method: method, url: "x", headers: []))
        }
        _ = try await measured.client.run(GetUser())
        for _ in 0..<2 { _ = try await measured.client.run(GetCached()) }
        measured.metrics.collect()
        await measured.client.shutdown()
        let backend = measured.backend
        return backend.recorders.map {
            Recorded(label: $0.label, instrument: "histogram", dimensions: $0.dimensions)
        }
            + backend.meters.map { Recorded(label: $0.label, instrument: "updowncounter", dimensions: $0.dimensions) }
            + backend.counters.map { Recorded(label: $0.label, instrument: "counter", dimensions: $0.dimensions) }
    }

    @Test func metricsOfTheConventionsAreThoseOfTheModel() async throws {
        let known = try await recorded().filter { !$0.label.hasPrefix("errand.") }
        #expect(
            Set(known.map(\.label)) == [
                "http.client.request.duration", "http.client.active_requests", "http.client.request.body.size",
                "http.client.response.body.size",
            ])
        for metric in known {
            let model = try #require(conventions.metrics[metric.label], "\(metric.label)")
            #expect(metric.instrument == model.instrument, "\(metric.label)")
            let required = model.attributes.filter { $0.value == "required" }.keys
            #expect(metric.names.isSubset(of: model.attributes.keys), "\(metric.label) \(metric.names)")
            #expect(metric.names.isSuperset(of: required), "\(metric.label) \(metric.names)")
        }
    }

    @Test func otherNamesHaveOurPrefix() async throws {
        for metric in try await recorded() where conventions.metrics[metric.label] == nil {
            #expect(metric.label.hasPrefix("errand."))
            for name in metric.names {
                #expect(name.hasPrefix("errand.") || conventions.attributes[name] != nil, "\(metric.label) \(name)")
            }
        }
    }

    /// An empty text is no value. The values of `error.type` are the program's own, as the conventions have it.
    @Test func valuesAreThoseOfTheModel() async throws {
        for metric in try await recorded() {
            for (name, value) in metric.dimensions where name != "error.type" && !value.isEmpty {
                let attribute = conventions.attributes[name]
                #expect(attribute?.values?.contains(value) ?? true, "\(metric.label) \(name)=\(value)")
                if attribute?.type == "int" { #expect(Int(value) != nil, "\(metric.label) \(name)=\(value)") }
            }
        }
        let methods = try #require(conventions.attributes["http.request.method"]?.values)
        #expect(ClientMetrics.Options().knownMethods.union(["_OTHER"]) == Set(methods))
    }

    /// swift-prometheus traps otherwise.
    @Test func labelSetsOfAMetricHaveTheSameNames() async throws {
        var names: [String: Set<String>] = [:]
        for metric in try await recorded() {
            let former = names[metric.label] ?? metric.names
            #expect(former == metric.names, "\(metric.label)")
            names[metric.label] = metric.names
        }
    }

    /// For OpenTelemetry an empty text is a value.
    @Test func emptyLabelsMayBeLeftOut() async throws {
        let metrics = try await recorded(omitsEmptyLabels: true)
        #expect(metrics.allSatisfy { $0.dimensions.allSatisfy { !$0.1.isEmpty } })
        #expect(metrics.contains { $0.label == "http.client.request.duration" && !$0.names.contains("error.type") })
        #expect(!metrics.contains { $0.names.contains("errand.client.name") })
    }

    @Test func everyHistogramHasBuckets() async throws {
        let histograms = try await recorded().filter { $0.instrument == "histogram" }
        #expect(Set(histograms.map(\.label)) == Set(ClientMetrics.histogramBuckets.keys))
        #expect(ClientMetrics.histogramBuckets.values.allSatisfy { $0 == $0.sorted() })
    }

    @Test func theDocumentHasAllNames() async throws {
        let document = try Conventions.document(Self.document)
        for metric in try await recorded() {
            #expect(document.contains("`\(metric.label)`"), "\(metric.label)")
            for name in metric.names { #expect(document.contains("`\(name)`"), "\(name)") }
        }
    }

    /// The rules and the dashboard: each metric and each label that they name is recorded.
    @Test(arguments: ["prometheus-alerts.yml", "grafana-client.json"])
    func theExamplesNameWhatIsRecorded(file: String) async throws {
        var known: Set<String> = []
        for metric in try await recorded() {
            let name = metric.label.replacing(".", with: "_")
            known.insert(name)
            if metric.instrument == "histogram" {
                for part in ["bucket", "count", "sum"] { known.insert("\(name)_\(part)") }
            }
            known.formUnion(metric.names.map { $0.replacing(".", with: "_") })
        }
        let words = try Conventions.document("docs/examples/\(file)").split { character in
            !(character.isLetter || character.isNumber || character == "_")
        }
        let prefixes = ["errand_", "http_", "server_", "error_", "network_", "url_"]
        let named = Set(words.map { String($0) }).filter { word in prefixes.contains { word.hasPrefix($0) } }
        #expect(named.count > 10)
        #expect(named.subtracting(known) == [])
    }

    @Test func theDocumentHasUnitsAndStability() async throws {
        let document = try Conventions.document(Self.document)
        let rows = document.split(separator: "\n").filter { $0.hasPrefix("| `http.") }
        #expect(rows.count == 3)
        for row in rows {
            let cell = row.split(separator: "|").first ?? ""
            for label in cell.split(separator: "`").filter({ $0.hasPrefix("http.") }) {
                let model = try #require(conventions.metrics[String(label)])
                #expect(row.contains(", \(model.unit), \(model.stability)"), "\(row)")
            }
        }
        var used: Set<String> = []
        for metric in try await recorded() { used.formUnion(metric.names) }
        #expect(
            Conventions.names(with: "in development", in: document)
                == used.filter { conventions.attributes[$0]?.stability == "development" })
    }
}
