import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandDownloads

/// A download that is run once more, and what it finds at its destination.
@Suite(.timeLimit(.minutes(20))) struct DownloadAgainTests {
    /// The bytes say nothing any more of what is there: kept, every later run would end with the same.
    @Test func aPartThatIsLongerThanItSaysIsNotKept() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start()
        let (first, _) = try await stubbed.transfer(1)
        stubbed.send(stubbed.head(200, total: 100_000), to: first)
        stubbed.send(0..<40_000, to: first)
        stubbed.fail(first)
        await stubbed.advance(.seconds(1))
        let (second, _) = try await stubbed.transfer(2)
        stubbed.send(stubbed.head(206, 40_000..<50_000, total: 100_000), to: second)
        stubbed.send(0..<20_000, to: second)
        #expect(try await stubbed.transfer(3).asked.range == nil)
        try await stubbed.serve(3, total: 100_000)
        #expect(try await request.ended().get().byteCount == 100_000)
        #expect(stubbed.isContent(100_000) && stubbed.folder.names == ["file.bin"])
        await stubbed.client.shutdown(.cancel)
    }

    @Test func whoCannotBeReachedIsTriedAgainByChoice() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start { $0.retry.coversFirstConnection = true }
        for (number, error) in [(1, ErrandError.resolveFailed), (2, .connectFailed), (3, .timeoutFirstByte)] {
            let (id, _) = try await stubbed.transfer(number)
            stubbed.fail(id, error)
            await stubbed.advance(.seconds(8))
        }
        try await stubbed.serve(4, total: 100)
        #expect(try await request.ended().get().byteCount == 100)
        let none = stubbed.start { $0.retry = DownloadRetry(maximumFailures: 0, coversFirstConnection: true) }
        stubbed.fail(try await stubbed.transfer(5).id, .connectFailed)
        #expect(await none.failure() == .connectFailed)
        await stubbed.client.shutdown(.cancel)
    }

    @Test(arguments: [false, true])
    func aFileThatIsTheOneWantedIsEnough(_ isNamed: Bool) async throws {
        let stubbed = try StubbedDownload()
        let path = stubbed.folder.path + "/content"
        stubbed.folder.write(DownloadContent.bytes(0..<700_000), "content")
        func start(_ digest: String) -> Request<Download> {
            stubbed.start {
                $0.destination = isNamed ? .directory(stubbed.folder.path) : .file(path)
                $0.overwrite = .fail
                $0.sha256 = digest
            }
        }
        func answer(_ number: Int) async throws {
            guard isNamed else { return }
            // The name is the response's to tell; of its body nothing is wanted.
            stubbed.send(stubbed.head(200, total: 700_000), to: try await stubbed.transfer(number).id)
        }
        let request = start(StubbedDownload.hash(700_000))
        try await answer(1)
        let file = try await request.ended().get()
        #expect(file.path == path && file.byteCount == 700_000 && file.resumedFrom == 700_000)
        #expect(file.sha256 == StubbedDownload.hash(700_000) && file.response.statusCode == 200)
        let other = start(StubbedDownload.hash(10))
        try await answer(2)
        #expect(await other.failure() == .fileExists)
        #expect(stubbed.stub.submitted.count == (isNamed ? 2 : 0) && stubbed.folder.names == ["content"])
        await stubbed.client.shutdown(.cancel)
    }

    @Test func anotherDigestIsTold() async throws {
        let stubbed = try StubbedDownload()
        let request = stubbed.start { $0.sha256 = StubbedDownload.hash(9) }
        try await stubbed.serve(1, total: 10)
        let error = await request.failure()
        #expect(error == .digestMismatch)
        #expect(error?.message == "SHA-256 is \(StubbedDownload.hash(10)), expected \(StubbedDownload.hash(9))")
        await stubbed.client.shutdown(.cancel)
    }

    /// A signed URL has another query each time.
    @Test(arguments: [false, true])
    func anotherQueryIsAnotherURLUnlessToldOtherwise(_ isNamed: Bool) async throws {
        let stubbed = try StubbedDownload()
        func download(_ query: String, _ ignoresQuery: Bool) -> Download {
            let folder = stubbed.folder.path
            var download = Download(
                "content?" + query, to: isNamed ? .directory(folder) : .file(folder + "/content"))
            download.ignoresQuery = ignoresQuery
            return download
        }
        func interrupt(_ number: Int, _ download: Download, at offset: Int) async throws {
            let request = stubbed.client.start(download)
            let (id, asked) = try await stubbed.transfer(number)
            #expect(asked.range == (offset == 0 ? nil : "bytes=\(offset)-"))
            stubbed.send(stubbed.head(offset == 0 ? 200 : 206, offset == 0 ? nil : offset..<100, total: 100), to: id)
            stubbed.send(offset..<offset + 20, to: id)
            try await stubbed.granted(20, to: id)
            request.stop()
            _ = await request.ended()
        }
        try await interrupt(1, download("s=1", false), at: 0)
        try await interrupt(2, download("s=2", true), at: 20)
        // What was gone on with is of the new URL, and begun by none of a third.
        try await interrupt(3, download("s=2", false), at: 40)
        try await interrupt(4, download("s=3", false), at: 0)
        await stubbed.client.shutdown(.cancel)
    }

    @Test func aLinkIsWrittenThrough() async throws {
        let stubbed = try StubbedDownload()
        let folder = stubbed.folder.path
        stubbed.folder.write([1], "real")
        #expect(symlink("real", folder + "/link") == 0 && symlink("link", folder + "/file.bin") == 0)
        let request = stubbed.start()
        try await stubbed.serve(1, total: 100)
        #expect(try await request.ended().get().path == folder + "/real")
        #expect(stubbed.isContent(100, "real") && stubbed.folder.names == ["file.bin", "link", "real"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/file.bin") == "link")
        // Where it leads nowhere, the file is made there.
        #expect(unlink(folder + "/real") == 0)
        let made = stubbed.start()
        try await stubbed.serve(2, total: 90)
        #expect(try await made.ended().get().byteCount == 90)
        #expect(stubbed.isContent(90, "real"))
        #expect(symlink("circle", folder + "/circle") == 0)
        let circle = stubbed.start { $0.destination = .file(folder + "/circle") }
        #expect(await circle.failure() == .fileUnwritable)
        await stubbed.client.shutdown(.cancel)
    }

    /// Neither is a link of another user followed, nor one whose name the server has chosen.
    @Test func otherLinksDevicesAndPipesAreNotReplaced() async throws {
        let stubbed = try StubbedDownload()
        let folder = stubbed.folder.path
        #expect(mkfifo(folder + "/file.bin", 0o600) == 0)
        #expect(await stubbed.start().failure() == .fileExists)
        #expect(await stubbed.start { $0.destination = .file("/dev/null") }.failure() == .fileExists)
        #expect(stubbed.stub.submitted.isEmpty)
        #expect(symlink("target", folder + "/content") == 0)
        let named = stubbed.start { $0.destination = .directory(folder) }
        stubbed.send(stubbed.head(200, total: 10), to: try await stubbed.transfer(1).id)
        #expect(await named.failure() == .fileExists)
        if geteuid() == 0 {
            #expect(lchown(folder + "/content", 65534, 65534) == 0 && chmod(folder, 0o1777) == 0)
            let foreign = stubbed.start { $0.destination = .file(folder + "/content") }
            #expect(await foreign.failure() == .fileExists)
        }
        #expect(stubbed.folder.names == ["content", "file.bin"])
        await stubbed.client.shutdown(.cancel)
    }
}
