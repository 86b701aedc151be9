import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandDownloads

/// Rate, progress, and many at once.
@Suite(.timeLimit(.minutes(20))) struct DownloadPaceTests {
    @Test func aBucketOfBytes() {
        var limiter = RateLimiter(bytesPerSecond: 1000)
        #expect(limiter.take(500, now: .zero) == .milliseconds(500))
        #expect(limiter.take(100, now: .milliseconds(100)) == .milliseconds(600))
        // What was not used is good for a tenth of a second.
        #expect(limiter.take(100, now: .seconds(10)) == .seconds(10))
        #expect(limiter.take(100, now: .seconds(10)) == .milliseconds(10_100))
        #expect(limiter.take(0, now: .seconds(20)) == .seconds(20))
    }

    @Test func bytesAreAskedForByTheClock() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start { $0.rateLimit = 10_000 }
        let (id, _) = try await stubbed.transfer(1)
        stubbed.send(stubbed.head(200, total: 30_000), to: id)
        for start in stride(from: 0, to: 30_000, by: 10_000) { stubbed.send(start..<start + 10_000, to: id) }
        try await stubbed.written(30_000)
        await stubbed.clock.sleepers(1)
        #expect(stubbed.stub.granted(to: id) == 0)
        for second in 1...3 {
            await stubbed.clock.sleepers(1)
            stubbed.clock.advance(by: .seconds(1))
            try await stubbed.granted(second * 10_000, to: id)
            #expect(stubbed.stub.granted(to: id) == second * 10_000)
        }
        stubbed.stub.end(id)
        _ = try await request.ended().get()
        await stubbed.client.shutdown(.cancel)
    }

    @Test func progressCountsTheWholeFile() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.client.request(stubbed.download())
        let seen = Notes<TransferProgress>()
        request.onProgress { seen.add($0) }
        request.start()
        let (first, _) = try await stubbed.transfer(1)
        stubbed.send(stubbed.head(200, total: 100), to: first)
        stubbed.send(0..<40, to: first)
        try await stubbed.granted(40, to: first)
        request.stop()
        _ = await request.ended()
        #expect(seen.all == [TransferProgress(bytesReceived: 0, bytesToReceive: 100)])

        let again = stubbed.client.request(stubbed.download())
        let later = Notes<TransferProgress>()
        again.onProgress { later.add($0) }
        again.start()
        let (second, _) = try await stubbed.transfer(2)
        stubbed.send(stubbed.head(206, 40..<100, total: 100), to: second)
        // The clock stands still: at most one each 100 ms, and the end.
        for start in stride(from: 40, to: 100, by: 10) { stubbed.send(start..<start + 10, to: second) }
        stubbed.stub.end(second)
        _ = try await again.ended().get()
        #expect(later.all.map(\.bytesReceived) == [40, 100] && later.all.allSatisfy { $0.bytesToReceive == 100 })
        await stubbed.client.shutdown(.cancel)
    }

    /// Of fifty downloads four run at a time; each has its file.
    @Test func manyUnderOneLimit() async throws {
        let stubbed = try StubbedDownload()
        let folder = stubbed.folder.path
        let downloads = (0..<50).map { Download("content/\($0)", to: .file(folder + "/\($0)")) }
        let batch = stubbed.client.start(Batch(downloads, maxConcurrent: 4))
        var most = 0
        var served = 0
        while served < 50 {
            // All four, so that there could be a fifth.
            try await waitUntil("\(min(4, 50 - served)) transfers are open") {
                most = max(most, stubbed.stub.open.count)
                return stubbed.stub.open.count == min(4, 50 - served)
            }
            let id = try #require(stubbed.stub.open.first)
            try await stubbed.serve(Int(id.rawValue), total: 10 + served)
            served += 1
            try await waitUntil("the transfer is closed") { !stubbed.stub.open.contains(id) }
        }
        let result = try await batch.ended().get()
        #expect(most == 4 && result.values.count == 50)
        #expect(Set(result.values.map(\.byteCount)) == Set(10..<60))
        #expect(stubbed.folder.names.count == 50)
        await stubbed.client.shutdown(.cancel)
    }

    /// The digest keeps up with a part that is written out of order.
    @Test func aDigestThatFollows() throws {
        let folder = try DownloadFolder()
        var part = try PartFile.open(folder.paths(), url: "u")
        var follower = try DigestFollower()
        let total: Int64 = 3 << 20
        for range in [1 << 20..<total, 0..<1 << 20] as [Range<Int64>] {
            try part.write(DownloadContent.bytes(range), at: range.lowerBound)
            try follower.follow(part, to: part.written.prefixEnd, atMost: 1 << 19)
        }
        #expect(follower.offset == 1 << 19)
        #expect(try follower.digest(upTo: total) == nil)
        try follower.follow(part, to: total, atMost: .max / 2)
        #expect(try follower.digest(upTo: total) == StubbedDownload.hash(Int(total)))
    }
}
