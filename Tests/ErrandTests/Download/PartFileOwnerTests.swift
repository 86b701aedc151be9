import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandClient
@testable import ErrandDownloads

/// A directory that others may write to, as /var/tmp: what they have put there they may have open, and go on writing.
@Suite(.timeLimit(.minutes(20))) struct PartFileOwnerTests {
    private let folder: DownloadFolder

    init() throws {
        folder = try DownloadFolder()
    }

    private func leave(_ name: String = "file.bin", url: String = "u", in folder: DownloadFolder) throws {
        var part = try PartFile.open(folder.paths(name), url: url)
        part.identify(DownloadValidators(entityTag: "\"a\""), length: 100)
        try part.write(DownloadContent.bytes(0..<10), at: 0)
        try part.sync()
    }

    /// To the user nobody; only root may.
    private func giveAway(_ names: String..., in folder: DownloadFolder) {
        for name in names { #expect(chown(folder.path + "/" + name, 65534, 65534) == 0) }
    }

    private func expectForeign() {
        for overwrite in [OverwritePolicy.replace, .fail, .number] {
            #expect(throws: ErrandError.fileExists) {
                _ = try PartFile.open(folder.paths(), url: "u", overwrite: overwrite)
            }
        }
    }

    @Test func aPartWithASecondNameStays() throws {
        try leave(in: folder)
        let other = folder.path + "/other"
        try FileManager.default.linkItem(atPath: folder.path + "/file.bin.part", toPath: other)
        expectForeign()
        #expect(folder.bytes("other") == DownloadContent.bytes(0..<10))
        let paths = try folder.paths()
        let directory = try DownloadDirectory(paths)
        let isForeign = directory.hasForeignPart(paths)
        try FileManager.default.removeItem(atPath: other)
        let isStillForeign = directory.hasForeignPart(paths)
        #expect(isForeign && !isStillForeign)
        let part = try PartFile.open(paths, url: "u")
        #expect(part.journal.safe.ranges == [0..<10])
    }

    /// Prepared, empty or not.
    @Test(.enabled(if: geteuid() == 0)) func anotherUsersPartStays() throws {
        folder.write([], "file.bin.part")
        giveAway("file.bin.part", in: folder)
        expectForeign()
        #expect(folder.names == ["file.bin.part"])
        try FileManager.default.removeItem(atPath: folder.path + "/file.bin.part")
        try leave(in: folder)
        giveAway("file.bin.part", in: folder)
        expectForeign()
        // The journal alone says nothing of it.
        #expect(try Downloads.unfinished(in: folder.path).isEmpty)
        #expect(try Downloads.clean(in: folder.path).isEmpty)
        #expect(folder.bytes("file.bin.part") == DownloadContent.bytes(0..<10))
        #expect(folder.names == ["file.bin.part", "file.bin.part.journal"])
    }

    @Test(.enabled(if: geteuid() == 0)) func anotherUsersJournalIsNone() throws {
        try leave(in: folder)
        giveAway("file.bin.part.journal", in: folder)
        let paths = try folder.paths()
        let directory = try DownloadDirectory(paths)
        let journal = directory.readJournal()
        #expect(journal == nil)
        // Bytes without a journal.
        expectForeign()
        #expect(try Downloads.unfinished(in: folder.path).isEmpty)
        #expect(folder.names == ["file.bin.part", "file.bin.part.journal"])
        try FileManager.default.removeItem(atPath: folder.path + "/file.bin.part")
        let part = try PartFile.open(paths, url: "u")
        #expect(part.journal == DownloadJournal(url: "u"))
        #expect(folder.names == ["file.bin.part"])
    }

    @Test(.enabled(if: geteuid() == 0)) func byNumberThereIsAnotherName() async throws {
        let stubbed = try StubbedDownload()
        for name in ["file.bin.part", "content.part"] { stubbed.folder.write([], name) }
        // What a directory would be looked through for.
        try leave("planted", url: "http://test/content", in: stubbed.folder)
        giveAway("file.bin.part", "content.part", "planted.part", "planted.part.journal", in: stubbed.folder)
        try await stubbed.expectNameTaken()
        let named = stubbed.startNamed()
        #expect(try await stubbed.transfer(2).asked.range == nil)
        try await stubbed.serve(2, total: 10)
        #expect(try await named.ended().get().path == stubbed.folder.path + "/content (1)")
        #expect(stubbed.folder.bytes("planted.part") == DownloadContent.bytes(0..<10))
        await stubbed.client.shutdown(.cancel)
    }
}
