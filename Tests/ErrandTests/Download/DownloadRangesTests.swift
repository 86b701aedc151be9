import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandDownloads

/// One file over several connections.
@Suite(.timeLimit(.minutes(20))) struct DownloadRangesTests {
    private static let total = 8 << 20
    private static let quarter = 2 << 20

    /// Four connections, the first one with a head that says that there are ranges.
    private func begun(_ stubbed: StubbedDownload, tag: String? = StubbedDownload.tag) async throws -> Request<Download>
    {
        let request = stubbed.start { $0.ranges = 4 }
        let (id, _) = try await stubbed.transfer(1)
        stubbed.send(stubbed.head(200, total: Self.total, tag: tag), to: id)
        return request
    }

    private func ranges(_ stubbed: StubbedDownload, _ numbers: ClosedRange<Int>) async throws -> Set<String> {
        var ranges: Set<String> = []
        for number in numbers {
            let asked = try await stubbed.transfer(number).asked
            ranges.insert("\(asked.range ?? "-") \(asked.headers[.ifRange] ?? "-")")
        }
        return ranges
    }

    /// Sends what a transfer asked for.
    private func serve(_ stubbed: StubbedDownload, _ number: Int) async throws {
        let asked = try await stubbed.transfer(number).asked.range?.dropFirst(6).split(separator: "-") ?? []
        let bounds = asked.compactMap { Int($0) }
        try await stubbed.serve(number, bounds[0]..<bounds[1] + 1, total: Self.total)
    }

    @Test func eachBringsItsShare() async throws {
        let stubbed = try StubbedDownload()
        let request = try await begun(stubbed)
        let quarter = Self.quarter
        #expect(
            try await ranges(stubbed, 2...4)
                == Set((1...3).map { "bytes=\($0 * quarter)-\(($0 + 1) * quarter - 1) \"a\"" }))
        for number in [4, 2, 3] { try await serve(stubbed, number) }
        // The first has all of it to send, and is ended when its share is there.
        let first = TransferID(rawValue: 1)
        for start in stride(from: 0, to: quarter + 16 << 10, by: 16 << 10) {
            stubbed.send(start..<start + 16 << 10, to: first)
        }
        try await waitUntil("the first transfer is cancelled or a fifth was submitted") {
            stubbed.stub.cancelled.contains(first) || stubbed.stub.submitted.count != 4
        }
        // Whoever was done took a half of the share that was left; it is never asked for twice.
        for number in 5..<50 {
            if request.isAtRest { break }
            try await waitUntil("\(number) transfers were submitted or the request is at rest") {
                stubbed.stub.submitted.count >= number || request.isAtRest
            }
            if stubbed.stub.submitted.count >= number { try await serve(stubbed, number) }
        }
        let file = try await request.ended().get()
        #expect(file.byteCount == Int64(Self.total) && stubbed.isContent(Self.total))
        #expect(stubbed.folder.names == ["file.bin"])
        await stubbed.client.shutdown(.cancel)
    }

    @Test(arguments: [nil, "W/\"a\""]) func notWithoutAStrongValidator(tag: String?) async throws {
        let stubbed = try StubbedDownload()
        let request = try await begun(stubbed, tag: tag)
        for start in stride(from: 0, to: Self.total, by: 1 << 20) {
            stubbed.send(start..<start + 1 << 20, to: TransferID(rawValue: 1))
        }
        stubbed.stub.end(TransferID(rawValue: 1))
        _ = try await request.ended().get()
        #expect(stubbed.stub.submitted.count == 1 && stubbed.isContent(Self.total))
        await stubbed.client.shutdown(.cancel)
    }

    /// A server that lets in fewer: the rest is brought by those that it does.
    @Test func aServerThatWantsFewer() async throws {
        let stubbed = try StubbedDownload()
        let request = try await begun(stubbed)
        _ = try await stubbed.transfer(4)
        for number in [2, 4] { stubbed.stub.sendHead(503, to: TransferID(rawValue: UInt64(number))) }
        try await serve(stubbed, 3)
        var number = 5
        while !request.isAtRest {
            try await waitUntil("transfer \(number) was submitted, or the request is at rest, or the first waits") {
                stubbed.stub.submitted.count >= number || request.isAtRest
                    || (number == 6 && stubbed.stub.granted(to: TransferID(rawValue: 1)) == 0)
            }
            if stubbed.stub.submitted.count >= number {
                try await serve(stubbed, number)
                number += 1
            }
            if number == 6, stubbed.stub.granted(to: TransferID(rawValue: 1)) == 0 {
                for start in stride(from: 0, to: Self.quarter, by: 1 << 20) {
                    stubbed.send(start..<start + 1 << 20, to: TransferID(rawValue: 1))
                }
                try await waitUntil("the first transfer has credit") {
                    stubbed.stub.granted(to: TransferID(rawValue: 1)) > 0 || request.isAtRest
                }
            }
        }
        #expect(try await request.ended().get().byteCount == Int64(Self.total))
        #expect(stubbed.isContent(Self.total))
        await stubbed.client.shutdown(.cancel)
    }

    @Test func anotherContentBeginsFromZero() async throws {
        let stubbed = try StubbedDownload()
        let request = try await begun(stubbed)
        let (second, _) = try await stubbed.transfer(2)
        stubbed.send(0..<100, to: TransferID(rawValue: 1))
        try await stubbed.granted(100, to: TransferID(rawValue: 1))
        // `If-Range` did not hold: the whole of the new content.
        stubbed.send(stubbed.head(200, total: 50, tag: "\"new\""), to: second)
        let (_, asked) = try await stubbed.transfer(5)
        #expect(asked.range == nil)
        try await stubbed.serve(5, total: 50, tag: "\"new\"")
        #expect(try await request.ended().get().byteCount == 50)
        #expect(stubbed.isContent(50))
        await stubbed.client.shutdown(.cancel)
    }

    /// A server that knows no ranges beside one that does: each piece would have it begin anew.
    @Test(arguments: [200, 206]) func contradictedItIsOneConnectionsAlone(status: Int) async throws {
        let stubbed = try StubbedDownload()
        let request = try await begun(stubbed)
        let (second, asked) = try await stubbed.transfer(2)
        if status == 200 {
            stubbed.send(stubbed.head(200, total: Self.total), to: second)
        } else {
            // The tag of another server.
            let start = Int((asked.range ?? "").dropFirst(6).prefix { $0 != "-" }) ?? 0
            stubbed.send(
                stubbed.head(206, start..<start + Self.quarter, total: Self.total, tag: "\"b\""), to: second)
        }
        let (fifth, again) = try await stubbed.transfer(5)
        #expect(again.range == nil)
        stubbed.send(stubbed.head(200, total: Self.total), to: fifth)
        for start in stride(from: 0, to: Self.total, by: 1 << 20) { stubbed.send(start..<start + 1 << 20, to: fifth) }
        stubbed.stub.end(fifth)
        #expect(try await request.ended().get().byteCount == Int64(Self.total))
        #expect(stubbed.stub.submitted.count == 5 && stubbed.isContent(Self.total))
        await stubbed.client.shutdown(.cancel)
    }

    /// All connections break, each after something came: what is missing is asked for afterwards, holes and all.
    @Test func holesAreResumed() async throws {
        let stubbed = try StubbedDownload()
        let request = try await begun(stubbed)
        let quarter = Self.quarter
        var starts: [Int: Int] = [1: 0]
        for number in 2...4 {
            let range = try await stubbed.transfer(number).asked.range ?? ""
            let start = Int(range.dropFirst(6).prefix { $0 != "-" }) ?? 0
            starts[number] = start
            let id = TransferID(rawValue: UInt64(number))
            stubbed.send(stubbed.head(206, start..<start + quarter, total: Self.total), to: id)
        }
        for (number, start) in starts {
            let id = TransferID(rawValue: UInt64(number))
            stubbed.send(start..<start + 1000, to: id)
            try await stubbed.granted(1000, to: id)
        }
        request.stop()
        _ = await request.ended()
        let left = (0..<4).map { Int64($0 * quarter)..<Int64($0 * quarter + 1000) }
        #expect(try stubbed.journal()?.safe == ByteRangeSet(left))
        let again = stubbed.start()
        #expect(try await ranges(stubbed, 5...5) == ["bytes=1000-\(quarter - 1) \"a\""])
        try await stubbed.serve(5, 1000..<quarter, total: Self.total)
        #expect(try await ranges(stubbed, 6...6) == ["bytes=\(quarter + 1000)-\(2 * quarter - 1) \"a\""])
        try await stubbed.serve(6, quarter + 1000..<2 * quarter, total: Self.total)
        try await stubbed.serve(7, 2 * quarter + 1000..<3 * quarter, total: Self.total)
        try await stubbed.serve(8, 3 * quarter + 1000..<4 * quarter, total: Self.total)
        let file = try await again.ended().get()
        #expect(file.resumedFrom == 4000 && stubbed.isContent(Self.total))
        await stubbed.client.shutdown(.cancel)
    }

    @Test func pausedTheyAllRest() async throws {
        let stubbed = try StubbedDownload()
        let request = try await begun(stubbed)
        _ = try await stubbed.transfer(4)
        request.pause()
        for number in 1...4 {
            try await waitUntil("the transfer is paused") {
                stubbed.stub.isPaused(TransferID(rawValue: UInt64(number)))
            }
        }
        try await serve(stubbed, 2)
        try await stubbed.settled(request)
        // Its connection is free, but nothing is asked for.
        #expect(stubbed.stub.submitted.count == 4)
        request.resume()
        _ = try await stubbed.transfer(5)
        #expect(!stubbed.stub.isPaused(TransferID(rawValue: 1)))
        request.stop()
        _ = await request.ended()
        await stubbed.client.shutdown(.cancel)
    }
}

@Suite struct RangeSharingTests {
    private static let tag = DownloadValidators(entityTag: "\"a\"")

    private static func sharing(_ width: Int = 2, have: ByteRangeSet = ByteRangeSet()) -> RangeSharing? {
        RangeSharing(
            have: have, validators: tag, length: 100, width: width, policy: DownloadPolicy(), smallest: 10)
    }

    @Test func whereItIsNotWorthIt() {
        #expect(Self.sharing(1) == nil)
        #expect(Self.sharing(have: ByteRangeSet([0..<81])) == nil)
        #expect(
            RangeSharing(
                have: ByteRangeSet(), validators: DownloadValidators(), length: 100, width: 2, policy: DownloadPolicy())
                == nil)
    }

    @Test func twoConnections() throws {
        var sharing = try #require(Self.sharing())
        let firstMade = sharing.adopt(DownloadAsk(transfer: 1), now: .zero)
        let first = try #require(firstMade)
        let nextMade = sharing.next(now: .zero)
        let next = try #require(nextMade)
        #expect(next.ask.range == "bytes=50-99" && next.ask.ifRange == "\"a\"")
        let third = sharing.next(now: .zero)
        #expect(third == nil)
        #expect(sharing.chunkArrived(first, count: 20) == .write(count: 20, at: 0))
        #expect(sharing.chunkArrived(next.piece, count: 50) == .complete(count: 50, at: 50, isSpent: true))
        sharing.ended(next.piece, nil)
        // What the first has left is halved, and what it brings beyond is dropped.
        let stolenMade = sharing.next(now: .seconds(1))
        let stolen = try #require(stolenMade)
        #expect(stolen.ask.range == "bytes=35-49")
        #expect(sharing.chunkArrived(first, count: 20) == .complete(count: 15, at: 20, isSpent: false))
        #expect(sharing.chunkArrived(first, count: 1) == .drop)
        sharing.ended(first, nil)
        #expect(!sharing.isComplete)
        #expect(sharing.chunkArrived(stolen.piece, count: 15) == .complete(count: 15, at: 35, isSpent: true))
        #expect(sharing.isComplete && sharing.hasMoved && sharing.lastError == nil)
    }

    @Test func headsOfPieces() throws {
        var sharing = try #require(Self.sharing())
        let nextMade = sharing.next(now: .zero)
        let next = try #require(nextMade)
        func verdict(_ head: DownloadHead) -> DownloadVerdict { sharing.headArrived(head, piece: next.piece) }
        typealias Machine = DownloadStateMachineTests
        #expect(verdict(Machine.head(206, 0..<50, total: 100)) == .take(end: 50))
        #expect(verdict(Machine.head(206, 0..<50, total: 99)) == .restart)
        #expect(verdict(Machine.head(206, 1..<50, total: 100)) == .restart)
        #expect(verdict(Machine.head(206, 0..<50, total: 100, tag: "\"b\"")) == .restart)
        #expect(verdict(Machine.head(200, total: 100)) == .restart)
        #expect(verdict(Machine.head(416, total: 100)) == .restart)
        #expect(verdict(Machine.head(403)) == .fail(.statusNotAccepted))
        #expect(verdict(Machine.head(503)) == .retry(after: nil, .statusNotAccepted))
    }

    /// A body that goes on behind the range that its head names, as one without a length may.
    @Test func bytesBehindTheRange() throws {
        var sharing = try #require(Self.sharing())
        let nextMade = sharing.next(now: .zero)
        let next = try #require(nextMade)
        let verdict = sharing.headArrived(
            DownloadStateMachineTests.head(206, 0..<20, total: 100), piece: next.piece)
        #expect(verdict == .take(end: 20))
        #expect(sharing.chunkArrived(next.piece, count: 15) == .write(count: 15, at: 0))
        #expect(sharing.chunkArrived(next.piece, count: 6) == .drop)
        sharing.ended(next.piece, nil)
        let restMade = sharing.next(now: .seconds(1))
        #expect(restMade?.ask.offset == 15)
    }

    /// Bytes that a lost transfer has asked for are asked for again. A half of a share is not, nor what was never sent.
    @Test func whatWasLostIsAskedForAgain() throws {
        var sharing = try #require(Self.sharing(3))
        let made = sharing.next(now: .zero)
        let lost = try #require(made)
        #expect(!sharing.asksAgain(lost.piece))
        sharing.ended(lost.piece, .receiveFailed)
        let madeAgain = sharing.next(now: .zero)
        let again = try #require(madeAgain)
        #expect(again.ask.offset == lost.ask.offset && sharing.asksAgain(again.piece))
        let madeNext = sharing.next(now: .zero)
        let unsent = try #require(madeNext)
        #expect(!sharing.asksAgain(unsent.piece))
        sharing.ended(unsent.piece, .queueFull, wasSent: false)
        // The width is 1 now, which the first one has.
        _ = sharing.chunkArrived(again.piece, count: 1)
        sharing.ended(again.piece, .receiveFailed)
        let madeRest = sharing.next(now: .zero)
        let rest = try #require(madeRest)
        #expect(rest.ask.offset == lost.ask.offset + 1 && sharing.asksAgain(rest.piece))
        sharing.ended(rest.piece, ErrandError.addressRefused.refused)
        #expect(sharing.width == 0)
    }

    /// Each that brings nothing is one less, so that it comes to an end.
    @Test func lostConnections() throws {
        var sharing = try #require(Self.sharing(3))
        for _ in 0..<3 {
            let nextMade = sharing.next(now: .zero)
            let next = try #require(nextMade)
            sharing.ended(next.piece, .connectFailed)
        }
        let none = sharing.next(now: .zero)
        #expect(none == nil && sharing.lastError == .connectFailed && !sharing.hasMoved)
        sharing = try #require(Self.sharing(2))
        for _ in 0..<9 {
            let nextMade = sharing.next(now: .zero)
            let next = try #require(nextMade)
            _ = sharing.chunkArrived(next.piece, count: 1)
            sharing.ended(next.piece, .receiveFailed)
        }
        #expect(sharing.width == 2 && sharing.hasMoved)
    }
}
