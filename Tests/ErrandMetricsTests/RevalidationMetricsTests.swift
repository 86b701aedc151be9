import CoreMetrics
import Errand
import ErrandMetrics
import ErrandTesting
import HTTPTypes
import MetricsTestKit
import Synchronization
import Testing

/// A stale answer that is served at once, and the revalidation behind it (RFC 5861 3).
@Suite(.timeLimit(.minutes(20))) struct RevalidationMetricsTests {
    private struct GetReport: Command {
        var path: String { "reports/1" }
        var urlTemplate: String { "/reports/{id}" }
        var cache: CachePolicy { .http }
        typealias Response = String
    }

    /// Milliseconds since 1970.
    private final class Moment: Sendable {
        private let time = Atomic<Int64>(784_111_777_000)
        var now: Int64 { time.load(ordering: .sequentiallyConsistent) }
        func advance(seconds: Int64) { time.wrappingAdd(seconds * 1000, ordering: .sequentiallyConsistent) }
    }

    private static let duration = "http.client.request.duration"
    private static let server = [
        ("http.request.method", "GET"), ("server.address", "test"), ("server.port", "80"),
        ("url.template", "/reports/{id}"),
    ]
    private let moment = Moment()

    /// A client whose revalidations get this answer, and whose cache has a stale response.
    private func staleClient(_ answer: StubTransport.Answer) async throws -> (MeasuredClient, StubTransport) {
        let stub = StubTransport { description in
            guard description.headers[.ifNoneMatch] == nil else { return answer }
            return .response(
                status: 200, headers: [.cacheControl: "max-age=60, stale-while-revalidate=30", .eTag: "\"t\""],
                body: "old")
        }
        let moment = moment
        let measured = MeasuredClient(stub) { $0.cache = ResponseCache(now: { moment.now }) }
        #expect(try await measured.client.run(GetReport()) == "old")
        moment.advance(seconds: 61)
        return (measured, stub)
    }

    /// How many attempts are recorded.
    private func recorded(_ measured: MeasuredClient) -> Int {
        measured.backend.recorders(label: Self.duration).flatMap(\.values).count
    }

    @Test func aRevalidationIsOneAttemptOfNoRequest() async throws {
        let (measured, stub) = try await staleClient(.hold)
        for _ in 0..<3 { #expect(try await measured.client.run(GetReport()) == "old") }
        // Of several at the same time only the first is sent.
        try await waitUntil("the revalidation is sent") { stub.open.count == 1 }
        #expect(measured.meter("http.client.active_requests", Self.server) == 1)
        #expect(recorded(measured) == 1)
        let revalidation = try #require(stub.open.first)
        stub.complete(revalidation, with: .response(Response(statusCode: 304, headers: [.eTag: "\"t\""])))
        try await waitUntil("the revalidation is recorded") { recorded(measured) == 2 }
        #expect(measured.meter("http.client.active_requests", Self.server) == 0)
        for status in ["200", "304"] {
            let labels = Self.server + [("http.response.status_code", status), ("error.type", "")]
            #expect(try measured.recorder(Self.duration, labels).values.count == 1)
        }
        // The answer did not wait for it, so it is no attempt of these requests.
        #expect(try measured.recorder("errand.request.attempts").values.sorted() == [0, 0, 0, 1])
        let succeeded = Self.server + [("errand.request.outcome", "succeeded")]
        #expect(try measured.recorder("errand.request.duration", succeeded).values.count == 4)
        #expect(measured.total("errand.cache.requests", [("errand.cache.result", "stale-hit")]) == 3)
        #expect(measured.total("errand.cache.requests") == 4)
        await measured.client.shutdown()
        #expect(recorded(measured) == 2)
    }

    @Test func aRevalidationThatIsRefusedIsRecorded() async throws {
        let (measured, _) = try await staleClient(.refuse(.connectFailed))
        #expect(try await measured.client.run(GetReport()) == "old")
        try await waitUntil("the revalidation is recorded") { recorded(measured) == 2 }
        #expect(try measured.recorder(Self.duration, [("error.type", "connectFailed")]).values.count == 1)
        #expect(measured.meter("http.client.active_requests", Self.server) == 0)
        #expect(try measured.recorder("errand.request.attempts").values.sorted() == [0, 1])
        await measured.client.shutdown()
    }
}
