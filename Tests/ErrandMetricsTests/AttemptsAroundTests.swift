import CoreMetrics
import Errand
import ErrandMetrics
import ErrandTesting
import MetricsTestKit
import Testing

/// What stands between a request and its attempts: endpoints, fallbacks and deadlines.
@Suite(.timeLimit(.minutes(20))) struct AttemptsAroundTests {
    private static let duration = "http.client.request.duration"
    private static let request = "errand.request.duration"
    private let stub = StubTransport { _ in .response(status: 200, body: "text") }

    /// The server of an attempt is the endpoint, and that of the request is the service.
    @Test func theServerIsTheEndpoint() async throws {
        let endpoints = [try Endpoint("http://one:81"), try Endpoint("http://two:82")]
        let service = try ServiceEndpoints(
            of: "http://test/", .list(endpoints), policy: EndpointPolicy(.roundRobin))
        let measured = MeasuredClient(stub) { $0.endpoints = [service] }
        for _ in 0..<2 { _ = try await measured.client.run(GetUser()) }
        for (address, port) in [("one", "81"), ("two", "82")] {
            let labels = [("server.address", address), ("server.port", port), ("url.template", "/users/{id}")]
            #expect(try measured.recorder(Self.duration, labels).values.count == 1)
        }
        #expect(try measured.recorder(Self.request, [("server.address", "test")]).values.count == 2)
        await measured.client.shutdown()
    }

    /// The attempt has failed, the request has not.
    @Test func aFallbackAnswers() async throws {
        let measured = MeasuredClient(StubTransport { _ in .failure(.connectFailed) }) {
            $0.interceptors = [Fallback(.response(body: Array("instead".utf8)))]
        }
        #expect(try await measured.client.run(GetText()) == "instead")
        #expect(try measured.recorder(Self.duration, [("error.type", "connectFailed")]).values.count == 1)
        #expect(try measured.recorder(Self.request, [("errand.request.outcome", "succeeded")]).values.count == 1)
        await measured.client.shutdown()
    }

    /// A request that fails when it is started is recorded once, without an attempt.
    @Test func aRequestThatIsTooLateHasNoAttempt() async throws {
        let measured = MeasuredClient(stub) { $0.obeysDeadlines = true }
        await Deadline.limit(to: .after(.zero)) { _ = await measured.client.result(of: GetText()) }
        #expect(try measured.recorder("errand.request.attempts").values == [0])
        let late = [("errand.request.outcome", "failed"), ("error.type", "deadlineExceeded")]
        #expect(try measured.recorder(Self.request, late).values.count == 1)
        #expect(measured.backend.recorders(label: Self.duration).isEmpty)
        await measured.client.shutdown()
    }
}
