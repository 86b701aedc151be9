import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandDownloads

/// One download over all its transfers, on a stub and a clock that stands still.
@Suite(.timeLimit(.minutes(20))) struct DownloadRunTests {
    @Test func aWholeFile() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start()
        let (id, asked) = try await stubbed.transfer(1)
        #expect(asked.range == nil && asked.headers[.acceptEncoding] == "identity")
        try await stubbed.serve(1, total: 300_000)
        let file = try await request.ended().get()
        #expect(file.path == stubbed.folder.path + "/file.bin" && file.byteCount == 300_000)
        #expect(file.resumedFrom == 0 && file.sha256 == nil && file.entityTag == "\"a\"")
        #expect(file.response.statusCode == 200 && file.response.body.isEmpty)
        #expect(stubbed.isContent(300_000))
        #expect(stubbed.folder.names == ["file.bin"])
        // Every byte went to the disk before it was given back.
        #expect(stubbed.stub.granted(to: id) == 300_000)
        await stubbed.client.shutdown(.cancel)
    }

    @Test func nothingIsAFileToo() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start { $0.computesSHA256 = true }
        try await stubbed.serve(1, total: 0)
        let file = try await request.ended().get()
        #expect(file.byteCount == 0 && file.sha256 == StubbedDownload.hash(0))
        #expect(stubbed.folder.names == ["file.bin"])
        await stubbed.client.shutdown(.cancel)
    }

    @Test func aBrokenConnectionGoesOnFromTheOffset() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start()
        let (first, _) = try await stubbed.transfer(1)
        stubbed.send(stubbed.head(200, total: 100_000), to: first)
        stubbed.send(0..<40_000, to: first)
        stubbed.fail(first)
        await stubbed.advance(.seconds(1))
        let (_, asked) = try await stubbed.transfer(2)
        #expect(asked.range == "bytes=40000-" && asked.headers[.ifRange] == "\"a\"")
        try await stubbed.serve(2, 40_000..<100_000, total: 100_000)
        let file = try await request.ended().get()
        // Of this run alone: nothing was there before.
        #expect(file.resumedFrom == 0 && file.response.statusCode == 206)
        #expect(request.resends == [.resumption])
        #expect(stubbed.isContent(100_000))
        await stubbed.client.shutdown(.cancel)
    }

    @Test func afterAStopTheNextRunGoesOn() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start()
        let (first, _) = try await stubbed.transfer(1)
        stubbed.send(stubbed.head(200, total: 100_000), to: first)
        stubbed.send(0..<40_000, to: first)
        try await stubbed.granted(40_000, to: first)
        request.stop()
        #expect(await request.failure() == .cancelled)
        #expect(stubbed.stub.cancelled.contains(first))
        #expect(try stubbed.journal()?.safe == ByteRangeSet([0..<40_000]))
        // The same request once more.
        #expect(request.start())
        #expect(try await stubbed.transfer(2).asked.range == "bytes=40000-")
        try await stubbed.serve(2, 40_000..<100_000, total: 100_000)
        #expect(try await request.ended().get().resumedFrom == 40_000)
        #expect(stubbed.isContent(100_000))
        await stubbed.client.shutdown(.cancel)
    }

    @Test func aChangedContentBeginsFromZero() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start()
        let (first, _) = try await stubbed.transfer(1)
        stubbed.send(stubbed.head(200, total: 100_000, tag: "\"old\""), to: first)
        stubbed.stub.sendChunk([UInt8](repeating: 7, count: 50_000), to: first)
        stubbed.fail(first)
        await stubbed.advance(.seconds(1))
        #expect(try await stubbed.transfer(2).asked.headers[.ifRange] == "\"old\"")
        try await stubbed.serve(2, total: 30_000)
        let file = try await request.ended().get()
        #expect(file.byteCount == 30_000 && file.resumedFrom == 0)
        #expect(stubbed.isContent(30_000))
        await stubbed.client.shutdown(.cancel)
    }

    @Test func allThereAlready() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start()
        let (first, _) = try await stubbed.transfer(1)
        // The length is not told, so that only the server knows that it has ended.
        var fields = HTTPFields()
        fields[.eTag] = StubbedDownload.tag
        stubbed.stub.sendHead(200, fields, to: first)
        stubbed.send(0..<50_000, to: first)
        stubbed.fail(first)
        await stubbed.advance(.seconds(1))
        let (second, asked) = try await stubbed.transfer(2)
        #expect(asked.range == "bytes=50000-")
        fields[.contentRange] = "bytes */50000"
        stubbed.stub.sendHead(416, fields, to: second)
        #expect(try await request.ended().get().byteCount == 50_000)
        #expect(stubbed.isContent(50_000))
        await stubbed.client.shutdown(.cancel)
    }

    /// Not even by `.always`: which coding a server takes may differ from response to response.
    @Test(arguments: [ResumePolicy.validated, .always]) func anEncodedContentIsNeverJoined(
        resumes: ResumePolicy
    ) async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start {
            $0.resumes = resumes
            $0.ranges = 4
        }
        for number in 1...2 {
            let (id, asked) = try await stubbed.transfer(number)
            #expect(asked.range == nil && asked.headers[.acceptEncoding] == "identity")
            var fields = stubbed.head(200, total: 3_000_000).headers
            fields[.contentEncoding] = "gzip"
            stubbed.stub.sendHead(200, fields, to: id)
            stubbed.send(0..<40_000, to: id)
            try await stubbed.granted(40_000, to: id)
            guard number == 1 else { continue }
            stubbed.fail(id)
            await stubbed.advance(.seconds(1))
        }
        request.stop()
        #expect(await request.failure() == .cancelled)
        // Nor by the next run, which gets it without a coding.
        #expect(request.start())
        #expect(try await stubbed.transfer(3).asked.range == nil)
        try await stubbed.serve(3, total: 100_000)
        let file = try await request.ended().get()
        #expect(file.resumedFrom == 0 && file.byteCount == 100_000 && file.entityTag == StubbedDownload.tag)
        #expect(stubbed.isContent(100_000))
        await stubbed.client.shutdown(.cancel)
    }

    @Test func codingsAreAskedForByName() async throws {
        let stubbed = try StubbedDownload { $0.connection.encodings = .gzip }
        let request = stubbed.start { $0.acceptsEncodings = true }
        let (first, asked) = try await stubbed.transfer(1)
        // The engine's own field.
        #expect(asked.headers[.acceptEncoding] == nil)
        stubbed.send(stubbed.head(200, total: 100_000), to: first)
        stubbed.send(0..<40_000, to: first)
        stubbed.fail(first)
        await stubbed.advance(.seconds(1))
        // It came without one: so will the rest.
        let (_, rest) = try await stubbed.transfer(2)
        #expect(rest.range == "bytes=40000-" && rest.headers[.acceptEncoding] == "identity")
        try await stubbed.serve(2, 40_000..<100_000, total: 100_000)
        #expect(try await request.ended().get().byteCount == 100_000)
        await stubbed.client.shutdown(.cancel)
    }

    @Test func aBusyServerIsWaitedFor() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start()
        let (first, _) = try await stubbed.transfer(1)
        var fields = HTTPFields()
        fields[.retryAfter] = "7"
        stubbed.stub.sendHead(503, fields, to: first)
        await stubbed.clock.sleepers(1)
        stubbed.clock.advance(by: .seconds(6))
        #expect(stubbed.stub.submitted.count == 1)
        stubbed.clock.advance(by: .seconds(1))
        try await stubbed.serve(2, total: 10)
        #expect(try await request.ended().get().byteCount == 10)
        await stubbed.client.shutdown(.cancel)
    }

    @Test func aRefusalIsAnyResponse() async throws {
        let stubbed = try StubbedDownload()
        for status in [404, 204, 403] {
            let number = stubbed.stub.submitted.count + 1
            let request = stubbed.start()
            let (id, _) = try await stubbed.transfer(number)
            stubbed.stub.sendHead(status, to: id)
            stubbed.stub.sendChunk(Array("why".utf8), to: id)
            stubbed.stub.end(id, status)
            let error = await request.failure()
            #expect(error == .statusNotAccepted && error?.statusCode == status)
            #expect(error?.response?.body.bytes == Array("why".utf8))
            #expect(stubbed.folder.names.isEmpty)
        }
        await stubbed.client.shutdown(.cancel)
    }

    @Test func aServerThatStaysBusyIsTold() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start { $0.retry.maximumFailures = 0 }
        let (id, _) = try await stubbed.transfer(1)
        stubbed.stub.sendHead(503, to: id)
        stubbed.stub.end(id, 503)
        let error = await request.failure()
        #expect(error == .statusNotAccepted && error?.statusCode == 503)
        await stubbed.client.shutdown(.cancel)
    }

    @Test func whoCannotBeReachedIsToldAtOnce() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start()
        let (id, _) = try await stubbed.transfer(1)
        stubbed.fail(id, .connectFailed)
        #expect(await request.failure() == .connectFailed)
        #expect(stubbed.folder.names.isEmpty)
        await stubbed.client.shutdown(.cancel)
    }

    @Test func pausedNothingMoves() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start()
        let (first, _) = try await stubbed.transfer(1)
        stubbed.send(stubbed.head(200, total: 100), to: first)
        stubbed.send(0..<40, to: first)
        try await stubbed.granted(40, to: first)
        request.pause()
        try await waitUntil("the transfer is paused") { stubbed.stub.isPaused(first) }
        try await waitUntil("the journal calls 40 bytes safe") { try stubbed.journal()?.safe == ByteRangeSet([0..<40]) }
        // It breaks meanwhile: nobody asks for the rest before it is resumed.
        stubbed.fail(first)
        try await stubbed.settled(request)
        #expect(stubbed.stub.submitted.count == 1 && request.state == .paused)
        request.resume()
        try await stubbed.serve(2, 40..<100, total: 100)
        #expect(try await request.ended().get().byteCount == 100)
        #expect(stubbed.isContent(100))
        await stubbed.client.shutdown(.cancel)
    }

    /// Its head was on the way when the transfer was held: the rest of it comes when the request is resumed.
    @Test func pausedBeforeARefusal() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start()
        let (first, _) = try await stubbed.transfer(1)
        request.pause()
        try await waitUntil("the transfer is paused") { stubbed.stub.isPaused(first) }
        stubbed.stub.sendHead(404, to: first)
        stubbed.stub.sendChunk(Array("why".utf8), to: first)
        try await stubbed.granted(3, to: first)
        request.resume()
        try await waitUntil("the transfer goes on") { !stubbed.stub.isPaused(first) }
        request.pause()
        try await waitUntil("the transfer is paused") { stubbed.stub.isPaused(first) }
        request.resume()
        try await waitUntil("the transfer goes on") { !stubbed.stub.isPaused(first) }
        stubbed.stub.end(first, 404)
        #expect(await request.failure() == .statusNotAccepted)
        await stubbed.client.shutdown(.cancel)
    }

    @Test func theTotalTimeCountsWhileItWaits() async throws {
        let stubbed = try StubbedDownload { $0.timeouts = Timeouts(total: .milliseconds(200)) }
        let request = stubbed.start()
        let (id, asked) = try await stubbed.transfer(1)
        #expect(asked.settings.timeouts.total == nil)
        stubbed.send(stubbed.head(200, total: 100), to: id)
        stubbed.send(0..<40, to: id)
        stubbed.fail(id)
        // It, and the pause before the next try.
        await stubbed.clock.sleepers(2)
        stubbed.clock.advance(by: .milliseconds(199))
        try await stubbed.settled(request)
        await stubbed.client.callbacksDrained()
        #expect(request.result == nil)
        stubbed.clock.advance(by: .milliseconds(1))
        #expect(await request.failure() == .timeoutTotal)
        #expect(try stubbed.journal()?.safe == ByteRangeSet([0..<40]))
        await stubbed.client.shutdown(.cancel)
    }

    @Test(arguments: ["receiving", "waiting", "paused"]) func aShutdownEndsIt(state: String) async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start()
        let (id, _) = try await stubbed.transfer(1)
        stubbed.send(stubbed.head(200, total: 100), to: id)
        stubbed.send(0..<40, to: id)
        try await stubbed.granted(40, to: id)
        if state == "paused" {
            request.pause()
            try await waitUntil("the transfer is paused") { stubbed.stub.isPaused(id) }
        }
        if state != "receiving" { stubbed.fail(id) }
        if state == "waiting" { await stubbed.clock.sleepers(1) }
        await stubbed.client.shutdown(.cancel)
        #expect(await request.failure() == .shutDown)
        #expect(try stubbed.journal()?.safe == ByteRangeSet([0..<40]))
    }

    /// Paused while it waited, and resumed: a drain lets it end, and does not take it for one that still waits.
    @Test func aDrainLetsItEnd() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start()
        let (id, _) = try await stubbed.transfer(1)
        stubbed.send(stubbed.head(200, total: 100), to: id)
        stubbed.send(0..<40, to: id)
        stubbed.fail(id)
        await stubbed.clock.sleepers(1)
        request.pause()
        request.resume()
        _ = try await stubbed.transfer(2)
        stubbed.client.shutdown(.drain(within: .seconds(60))) {}
        try await stubbed.serve(2, 40..<100, total: 100)
        #expect(try await request.ended().get().byteCount == 100)
        await stubbed.client.shutdown(.cancel)
    }

    @Test func digests() async throws {
        let stubbed = try StubbedDownload()
        let right = StubbedDownload.hash(3 << 20)
        let request = stubbed.start { $0.sha256 = right.uppercased() }
        let (first, _) = try await stubbed.transfer(1)
        stubbed.send(stubbed.head(200, total: 3 << 20), to: first)
        stubbed.send(0..<2_000_000, to: first)
        try await stubbed.granted(2_000_000, to: first)
        request.stop()
        _ = await request.ended()
        // The next run has to read what is there again.
        #expect(request.start())
        try await stubbed.serve(2, 2_000_000..<3 << 20, total: 3 << 20)
        #expect(try await request.ended().get().sha256 == right)

        let wrong = stubbed.start { $0.sha256 = String(repeating: "0", count: 64) }
        try await stubbed.serve(3, total: 1000)
        #expect(await wrong.failure() == .digestMismatch)
        // The old file stays, and nothing of the wrong one.
        #expect(stubbed.folder.names == ["file.bin"] && stubbed.isContent(3 << 20))
        await stubbed.client.shutdown(.cancel)
    }

    @Test func somebodyElsesPartIsNoneOfIts() async throws {
        let stubbed = try StubbedDownload()
        stubbed.folder.write([1], "file.bin.part")
        try await stubbed.expectNameTaken()
        let named = stubbed.startNamed()
        stubbed.folder.write([1], "content.part")
        try await stubbed.serve(2, total: 10)
        #expect(try await named.ended().get().path == stubbed.folder.path + "/content (1)")
        #expect(stubbed.folder.names == ["content (1)", "content.part", "file (1).bin", "file.bin.part"])
        #expect(stubbed.folder.bytes("file.bin.part") == [1] && stubbed.folder.bytes("content.part") == [1])
        await stubbed.client.shutdown(.cancel)
    }

    /// The core refuses such a body at its first byte; the server may let it wait for that as long as it likes.
    @Test func nothingIsReservedBeyondTheLimit() async throws {
        let stubbed = try StubbedDownload { $0.limits = Limits(bodyBytes: 1000) }
        let request = stubbed.start()
        let (id, asked) = try await stubbed.transfer(1)
        #expect(asked.settings.limits.bodyBytes == 1000)
        stubbed.send(stubbed.head(200, total: 64 << 20), to: id)
        try await stubbed.settled(request)
        let allocated = try #require(stubbed.folder.allocated("file.bin.part"))
        #expect(allocated < 1 << 20)
        stubbed.fail(id, .limitBodyBytes)
        #expect(await request.failure() == .limitBodyBytes)
        #expect(stubbed.folder.names.isEmpty)
        await stubbed.client.shutdown(.cancel)
    }

    @Test func whatIsLeftTakesNoMoreThanItHas() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start()
        let (id, _) = try await stubbed.transfer(1)
        stubbed.send(stubbed.head(200, total: 64 << 20), to: id)
        stubbed.send(0..<1, to: id)
        try await stubbed.granted(1, to: id)
        request.stop()
        #expect(await request.failure() == .cancelled)
        let allocated = try #require(stubbed.folder.allocated("file.bin.part"))
        #expect(allocated < 1 << 20)
        #expect(try stubbed.journal()?.safe == ByteRangeSet([0..<1]))
        await stubbed.client.shutdown(.cancel)
    }

    @Test func lengthsThatAreExpected() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start { $0.expectedSize = 10 }
        try await stubbed.serve(1, total: 11)
        #expect(await request.failure() == .lengthMismatch)
        #expect(stubbed.folder.names.isEmpty)
        await stubbed.client.shutdown(.cancel)
    }

    /// A transport that tells everything with the end.
    @Test func aTransportThatBuffers() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "all of it") }
        let folder = try DownloadFolder()
        let client = Client.stubbed(stub)
        let file = try await client.run(Download("a", to: .file(folder.path + "/a")))
        #expect(file.byteCount == 9 && folder.bytes("a") == Array("all of it".utf8))
        await client.shutdown(.cancel)
    }
}
