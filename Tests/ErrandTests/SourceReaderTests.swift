import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// A source that allows one reader at a time, whose first one is deaf to being cancelled.
private final class Exclusive: RequestBodySource {
    let length: Int64? = nil
    let isReplayable = true
    let gate: Gate
    private let counts = Mutex((opened: 0, open: 0, most: 0))

    init(_ gate: Gate) { self.gate = gate }

    var opened: Int { counts.withLock { $0.opened } }
    var openNow: Int { counts.withLock { $0.open } }
    /// So many were open at the same time.
    var most: Int { counts.withLock { $0.most } }

    func open() throws -> sending any BodyReader {
        let number = counts.withLock { counts in
            counts.opened += 1
            counts.open += 1
            counts.most = max(counts.most, counts.open)
            return counts.opened
        }
        return Reader(number, of: self)
    }

    private func closed() { counts.withLock { $0.open -= 1 } }

    private final class Reader: BodyReader {
        private let number: Int
        private let source: Exclusive
        private var isAtEnd = false

        init(_ number: Int, of source: Exclusive) {
            self.number = number
            self.source = source
        }

        func next(maximum: Int) async throws -> [UInt8]? {
            if number == 1 { await source.gate.pass() }
            if isAtEnd { return nil }
            isAtEnd = true
            return [UInt8(number)]
        }

        func close() { source.closed() }
    }
}

private struct PutSource: Command {
    let source: Exclusive
    var path = "raw"
    var method: HTTPRequest.Method { .put }
    var body: RequestBody { .source(source) }
    typealias Response = Errand.Response
}

@Suite(.timeLimit(.minutes(20))) struct SourceReaderTests {
    /// A redirect comes while the first reader is still at work: the source is opened again when that one is closed.
    @Test func aRedirectWaitsForTheFirstReader() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let source = Exclusive(Gate())
        let request = client.start(PutSource(source: source))
        let first = try await stub.opened()
        await source.gate.arrivals(1)
        stub.complete(first, with: .response(Response(statusCode: 307, headers: [.location: "/next"])))
        try await waitUntil("2 transfers were submitted") { stub.submitted.count >= 2 }
        let second = try await stub.opened()
        await client.callbacksDrained()
        await allowTime(for: "a second reader beside the first", .milliseconds(50))
        #expect(source.opened == 1)
        await source.gate.open()
        try await waitUntil("the upload is closed") { stub.upload(of: second).ending != .open }
        #expect(stub.upload(of: second).bytes == [2])
        #expect(source.opened == 2 && source.most == 1)
        stub.complete(second, with: .response(Response(statusCode: 200)))
        await client.shutdown()
        #expect(request.state == .succeeded && source.openNow == 0)
    }

    /// The same of a request that was stopped and is started again, several times.
    @Test func aRestartWaitsForTheFirstReader() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let source = Exclusive(Gate())
        let request = client.request(PutSource(source: source))
        for run in 1...4 {
            #expect(request.start())
            if run == 1 { await source.gate.arrivals(1) }
            guard run < 4 else { break }
            request.stop()
            try await waitUntil("the request is at rest") { request.isAtRest }
        }
        let last = try await stub.opened()
        await allowTime(for: "a second reader beside the first", .milliseconds(50))
        #expect(source.opened == 1)
        await source.gate.open()
        try await waitUntil("the upload is closed") { stub.upload(of: last).ending != .open }
        // What was stopped before its turn has opened none.
        #expect(stub.upload(of: last).bytes == [2])
        #expect(source.most == 1)
        stub.complete(last, with: .response(Response(statusCode: 200)))
        await client.shutdown()
        #expect(source.openNow == 0)
    }
}
