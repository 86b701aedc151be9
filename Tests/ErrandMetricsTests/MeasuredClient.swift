import CoreMetrics
import Errand
import ErrandMetrics
import ErrandTesting
import MetricsTestKit
import Testing

struct GetUser: Command {
    var id = 1
    var path: String { "users/\(id)" }
    var urlTemplate: String { "/users/{id}" }
    typealias Response = String
}

struct GetText: Command {
    var path = "text"
    typealias Response = String
}

/// A client on a stub, and the backend that has its metrics.
struct MeasuredClient {
    let backend: TestMetrics
    let metrics: ClientMetrics
    let client: Client

    init(
        _ stub: StubTransport, _ options: ClientMetrics.Options = ClientMetrics.Options(),
        backend: TestMetrics = TestMetrics(), _ change: (inout Client.Configuration) -> Void = { _ in }
    ) {
        self.backend = backend
        metrics = ClientMetrics(options, factory: backend)
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.metrics = metrics
        change(&configuration)
        client = Client(configuration: configuration, transport: stub)
    }

    /// The recorder of `label` with all of these dimensions.
    func recorder(_ label: String, _ dimensions: [(String, String)] = []) throws -> TestRecorder {
        let found = backend.recorders(label: label, dimensions: dimensions)
        #expect(found.count == 1, "\(label) \(dimensions): \(backend)")
        return try #require(found.first)
    }

    /// What the counters with all of these dimensions have counted.
    func total(_ label: String, _ dimensions: [(String, String)] = []) -> Int64 {
        backend.counterTotal(label: label, dimensions: dimensions)
    }

    /// The last value of the meter with all of these dimensions.
    func meter(_ label: String, _ dimensions: [(String, String)] = []) -> Double? {
        backend.meters(label: label, dimensions: dimensions).first?.lastValue
    }
}

/// `server.port=80`.
func words(_ dimensions: [(String, String)]) -> [String] { dimensions.map { "\($0.0)=\($0.1)" } }
