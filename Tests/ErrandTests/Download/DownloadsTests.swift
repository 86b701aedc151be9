import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandDownloads

@Suite struct DownloadsTests {
    private func leave(_ name: String, _ count: Int64, in folder: DownloadFolder, length: Int64? = 100) throws {
        var part = try PartFile.open(folder.paths(name), url: "http://test/\(name)")
        part.identify(DownloadValidators(entityTag: "\"a\""), length: length)
        try part.write(DownloadContent.bytes(0..<count), at: 0)
        try part.sync()
    }

    @Test func whatIsThere() throws {
        let folder = try DownloadFolder()
        #expect(try Downloads.unfinished(in: folder.path).isEmpty)
        try leave("a.bin", 10, in: folder)
        try leave("b.bin", 20, in: folder, length: nil)
        // Of others, or torn.
        folder.write([1], "browser.part")
        folder.write([1], "torn.part")
        folder.write([1, 2], "torn.part.journal")
        folder.write([1], "whole.bin")
        let found = try Downloads.unfinished(in: folder.path)
        #expect(found.map(\.path) == [folder.path + "/a.bin", folder.path + "/b.bin"])
        #expect(found.map(\.url) == ["http://test/a.bin", "http://test/b.bin"])
        #expect(found.map(\.byteCount) == [10, 20] && found.map(\.length) == [100, nil])
        #expect(found.allSatisfy { !$0.isRunning && abs($0.lastWritten.timeIntervalSinceNow) < 3600 })
        #expect(throws: ErrandError.directoryMissing) { try Downloads.unfinished(in: folder.path + "/no") }
    }

    @Test func whatIsCleaned() throws {
        let folder = try DownloadFolder()
        try leave("a.bin", 10, in: folder)
        try leave("b.bin", 20, in: folder)
        folder.write([1], "browser.part")
        let written = try #require(try Downloads.unfinished(in: folder.path).first).lastWritten
        #expect(try Downloads.clean(in: folder.path, olderThan: .seconds(60), now: written + 59).isEmpty)
        let running = try PartFile.open(folder.paths("a.bin"), url: "http://test/a.bin")
        #expect(try Downloads.unfinished(in: folder.path).map(\.isRunning) == [true, false])
        let old = try Downloads.clean(in: folder.path, olderThan: .seconds(60), now: written + 3600)
        #expect(old.map(\.byteCount) == [20])
        #expect(folder.names == ["a.bin.part", "a.bin.part.journal", "browser.part"])
        withExtendedLifetime(running.journal) {}
        _ = consume running
        #expect(try Downloads.clean(in: folder.path).map(\.byteCount) == [10])
        #expect(folder.names == ["browser.part"])
    }
}
