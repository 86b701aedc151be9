import Errand
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandEngine
@testable import ErrandModel
@testable import ErrandTesting

/// What is replayed, when, and within which credit.
@Suite(.timeLimit(.minutes(20))) struct CassetteTimeTests {
    /// `@unchecked Sendable`: what it adds is itself safe to share.
    private final class Receiver: TransferReceiver, @unchecked Sendable {
        let events = Notes<String>()

        override func receive(_ event: TransferEvent.Kind) {
            switch event {
            case .head(let response): events.add("head \(response.statusCode)")
            case .chunk(let response): events.add("chunk \(response.body.count)")
            case .started: events.add("started")
            case .connected: events.add("connected")
            case .sent: events.add("sent")
            case .progress: events.add("progress")
            case .uploadCredit(let bytes): events.add("credit \(bytes)")
            case .retrying, .resending, .notResent: events.add("retrying")
            case .decided(let decision): events.add(decision.label)
            case .ended(.response(let response)): events.add("response \(response.body.count)")
            case .ended(.failure(let error)): events.add("failure \(error.shortDescription)")
            }
        }
    }

    private let folder: TestFolder
    private let clock = ManualClock()

    init() throws {
        folder = try TestFolder()
    }

    /// A transport that replays these entries.
    private func transport(_ entries: [HAR.Entry], replaysTime: Bool = false) throws -> CassetteTransport {
        let path = folder.path + "/c.har"
        try HAR(entries: entries).write(to: path)
        let cassette = try Cassette(path, mode: .none)
        return CassetteTransport(cassette, over: StubTransport(), clock: clock, replaysTime: replaysTime)
    }

    private func entry(_ size: Int, chunks: [HAR.Chunk] = []) -> HAR.Entry {
        HAR.Entry(
            started: .zero, request: HAR.Sent(method: "GET", url: "http://a/"),
            response: HAR.Received(status: 200, body: HAR.Body(bytes: [UInt8](repeating: 0x61, count: size))),
            timings: HAR.Timings(wait: .milliseconds(100), receive: .milliseconds(400)), chunks: chunks)
    }

    private func description(streamed: Bool, _ reports: RequestDescription.Reports = []) throws -> RequestDescription {
        let client = Client(transport: StubTransport())
        var description = try client.describe(RawCommand(url: "http://a/"))
        description.delivery = streamed ? .streamed : .buffered
        description.reports = reports
        return description
    }

    @Test func eventsAreReported() async throws {
        let transport = try transport([entry(3)])
        let receiver = Receiver(callbacks: .inline())
        _ = try transport.submit(try description(streamed: false, [.events, .progress]), for: receiver)
        try await waitUntil("the transfer has ended") { receiver.events.all.count >= 5 }
        await transport.stop()
        #expect(receiver.events.all == ["started", "sent", "head 200", "progress", "response 3"])
    }

    @Test func aStreamWaitsForCredit() async throws {
        let transport = try transport([entry(300_000, chunks: [.init(time: .zero, size: 300_000)])])
        let receiver = Receiver(callbacks: .inline())
        let id = try transport.submit(try description(streamed: true), for: receiver)
        try await waitUntil("the first credit is used") { receiver.events.all.count == 2 }
        await allowTime(for: "bytes beyond the credit")
        #expect(receiver.events.all == ["head 200", "chunk 262144"])
        transport.pause(id)
        transport.grant(id, bytes: 10_000)
        await allowTime(for: "bytes in a pause")
        #expect(receiver.events.all.count == 2)
        transport.resume(id)
        try await waitUntil("the second credit is used") { receiver.events.all.count == 3 }
        transport.grant(id, bytes: 1_000_000)
        try await waitUntil("the transfer has ended") { receiver.events.all.last == "response 0" }
        #expect(receiver.events.all == ["head 200", "chunk 262144", "chunk 10000", "chunk 27856", "response 0"])
        await transport.stop()
    }

    @Test func timeIsReplayedByChoice() async throws {
        let chunks = [HAR.Chunk(time: .milliseconds(150), size: 2), HAR.Chunk(time: .milliseconds(300), size: 1)]
        let transport = try transport([entry(3, chunks: chunks)], replaysTime: true)
        let receiver = Receiver(callbacks: .inline())
        _ = try transport.submit(try description(streamed: true), for: receiver)
        var seen: [String] = []
        for (step, event) in [(100, "head 200"), (50, "chunk 2"), (150, "chunk 1"), (200, "response 0")] {
            await clock.sleepers(1)
            clock.advance(by: .milliseconds(step - 1))
            await allowTime(for: "an event that is too early", .milliseconds(5))
            #expect(receiver.events.all == seen)
            clock.advance(by: .milliseconds(1))
            seen.append(event)
            try await waitUntil("the event has come") { receiver.events.all.count >= seen.count }
            #expect(receiver.events.all == seen)
        }
        await transport.stop()
    }

    @Test func aReplayIsCancelled() async throws {
        let transport = try transport([entry(3)], replaysTime: true)
        let receiver = Receiver(callbacks: .inline())
        let id = try transport.submit(try description(streamed: false), for: receiver)
        await clock.sleepers(1)
        transport.cancel(id)
        transport.cancel(id)
        await transport.stop()
        #expect(receiver.events.all == ["failure cancelled"])
        let late = try description(streamed: false)
        #expect(throws: ErrandError.shutDown) { try transport.submit(late, for: receiver) }
    }

    @Test func aShutdownEndsWhatIsPlayed() async throws {
        let transport = try transport([entry(3)], replaysTime: true)
        let receiver = Receiver(callbacks: .inline())
        _ = try transport.submit(try description(streamed: false), for: receiver)
        await transport.stop()
        await transport.stop()
        #expect(receiver.events.all == ["failure cancelled"])
    }

    /// What such a program writes depends on the answer.
    @Test func anUploadWithAStreamIsAnsweredAtOnce() async throws {
        var exchange = entry(3, chunks: [HAR.Chunk(time: .zero, size: 3)])
        exchange.request.body = HAR.Body(bytes: [1])
        let transport = try transport([exchange])
        let receiver = Receiver(callbacks: .inline())
        var duplex = try description(streamed: true)
        duplex.body = .stream(length: nil)
        let id = try transport.submit(duplex, for: receiver)
        try await waitUntil("the answer has come") { receiver.events.all.last == "chunk 3" }
        [UInt8]([1]).withUnsafeBytes { transport.write($0, to: id) }
        transport.finishUpload(id)
        // As with the engine, the transfer ends when both directions have ended.
        try await waitUntil("the transfer has ended") { receiver.events.all.last == "response 0" }
        await transport.stop()
        #expect(receiver.events.all == ["head 200", "chunk 3", "credit 1", "response 0"])
        #expect(transport.cassette.unused.isEmpty && transport.cassette.mismatches.isEmpty)
    }

    /// The program does not finish its upload.
    @Test func anAnsweredUploadWithoutAnEndIsEndedByTheTimeout() async throws {
        var exchange = entry(3, chunks: [HAR.Chunk(time: .zero, size: 3)])
        exchange.request.body = HAR.Body(bytes: [1])
        let transport = try transport([exchange])
        let receiver = Receiver(callbacks: .inline())
        var configuration = Client.Configuration()
        configuration.timeouts.total = .seconds(9)
        let client = Client(configuration: configuration, transport: StubTransport())
        var duplex = try client.describe(RawCommand(url: "http://a/"))
        duplex.delivery = .streamed
        duplex.body = .stream(length: nil)
        _ = try transport.submit(duplex, for: receiver)
        await clock.sleepers(1)
        #expect(receiver.events.all == ["head 200", "chunk 3"])
        clock.advance(by: .seconds(9))
        try await waitUntil("the transfer has ended") { receiver.events.all.count == 3 }
        #expect(receiver.events.all.last == "failure timeoutTotal")
        await transport.stop()
    }

    /// The rest of the upload does not come, although the answer is there.
    @Test func anAnsweredUploadThatStallsIsEndedByTheIdleTimeout() async throws {
        var exchange = entry(3, chunks: [HAR.Chunk(time: .zero, size: 3)])
        exchange.request.body = HAR.Body(bytes: [1])
        let transport = try transport([exchange])
        let receiver = Receiver(callbacks: .inline())
        var duplex = try upload(Timeouts(idle: .seconds(3)))
        duplex.delivery = .streamed
        _ = try transport.submit(duplex, for: receiver)
        await clock.sleepers(1)
        #expect(receiver.events.all == ["head 200", "chunk 3"])
        clock.advance(by: .seconds(3))
        try await waitUntil("the transfer has ended") { receiver.events.all.count == 3 }
        #expect(receiver.events.all.last == "failure timeoutIdle")
        await transport.stop()
    }

    /// An upload that the receiver writes, with a response in one piece.
    private func upload(_ timeouts: Timeouts) throws -> RequestDescription {
        var configuration = Client.Configuration()
        configuration.timeouts = timeouts
        let client = Client(configuration: configuration, transport: StubTransport())
        var description = try client.describe(RawCommand(url: "http://a/"))
        description.delivery = .buffered
        description.reports = []
        description.body = .stream(length: nil)
        return description
    }

    /// The recorded upload stalled after one byte.
    private func stalled() throws -> CassetteTransport {
        var exchange = entry(0)
        exchange.response = nil
        exchange.request.body = HAR.Body(bytes: [1], isTruncated: true)
        exchange.failure = HAR.Failure(kind: "timeoutIdle", message: "")
        return try transport([exchange])
    }

    @Test func aStalledUploadIsEndedByTheIdleTimeout() async throws {
        let transport = try stalled()
        let receiver = Receiver(callbacks: .inline())
        let id = try transport.submit(try upload(Timeouts(idle: .seconds(3))), for: receiver)
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        [UInt8]([1]).withUnsafeBytes { transport.write($0, to: id) }
        try await waitUntil("the byte was taken") { receiver.events.all == ["credit 1"] }
        // The sleep until the third second ends, and the next one begins.
        clock.advance(by: .seconds(2))
        await clock.sleepers(1)
        #expect(receiver.events.all == ["credit 1"])
        #expect(transport.cassette.unused.count == 1)
        clock.advance(by: .seconds(1))
        try await waitUntil("the transfer has ended") { receiver.events.all.count == 2 }
        #expect(receiver.events.all.last == "failure timeoutIdle")
        #expect(transport.cassette.unused.isEmpty)
        await transport.stop()
    }

    @Test func aPauseStopsTheIdleTimeout() async throws {
        let transport = try stalled()
        let receiver = Receiver(callbacks: .inline())
        let id = try transport.submit(try upload(Timeouts(idle: .seconds(3))), for: receiver)
        await clock.sleepers(1)
        transport.pause(id)
        clock.advance(by: .seconds(10))
        await allowTime(for: "a timeout in a pause")
        #expect(receiver.events.all.isEmpty)
        transport.resume(id)
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(2999))
        await allowTime(for: "a timeout that is too early")
        #expect(receiver.events.all.isEmpty)
        clock.advance(by: .milliseconds(1))
        try await waitUntil("the transfer has ended") { !receiver.events.all.isEmpty }
        #expect(receiver.events.all == ["failure timeoutIdle"])
        await transport.stop()
    }

    @Test func aStreamThatWasStoppedHasNoEnd() async throws {
        var left = entry(3, chunks: [HAR.Chunk(time: .zero, size: 3)])
        left.failure = HAR.Failure(kind: "cancelled", message: "")
        let transport = try transport([left])
        let receiver = Receiver(callbacks: .inline())
        let id = try transport.submit(try description(streamed: true), for: receiver)
        try await waitUntil("the piece has come") { receiver.events.all.count >= 2 }
        await allowTime(for: "an end that nobody has recorded")
        #expect(receiver.events.all == ["head 200", "chunk 3"])
        transport.cancel(id)
        await transport.stop()
        #expect(receiver.events.all.last == "failure cancelled")
    }

    @Test func aTruncatedRecordingIsAPartialBody() async throws {
        var cut = entry(3)
        cut.response?.body.isTruncated = true
        let transport = try transport([cut])
        let receiver = Receiver(callbacks: .inline())
        _ = try transport.submit(try description(streamed: false), for: receiver)
        try await waitUntil("the transfer has ended") { !receiver.events.all.isEmpty }
        await transport.stop()
        #expect(receiver.events.all == ["failure partialBody"])
    }
}
