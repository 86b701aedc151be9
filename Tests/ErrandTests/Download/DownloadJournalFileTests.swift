import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandDownloads

@Suite struct DownloadJournalFileTests {
    private let folder: DownloadFolder

    init() throws {
        folder = try DownloadFolder()
    }

    private static func journal(_ end: Int64, tag: String = "\"a\"") -> DownloadJournal {
        var journal = DownloadJournal(url: "http://h/file")
        journal.validators.entityTag = tag
        journal.safe = ByteRangeSet([0..<end])
        return journal
    }

    /// Torn by a kill or a loss of power is what was being written: that there is an older word instead, and never none.
    @Test func aTornWordIsNotTheOnlyOne() throws {
        let (paths, name) = (try folder.paths(), "file.bin.part.journal")
        let directory = try DownloadDirectory(paths)
        var file = DownloadJournalFile()
        var (before, durable) = (Int64(0), Int64(0))
        for round in 1...20 as ClosedRange<Int64> {
            let old = folder.bytes(name)
            let isDurable = round % 5 == 0
            try file.write(Self.journal(round), isDurable: isDurable, to: paths, in: directory)
            let new = try #require(folder.bytes(name))
            #expect(DownloadJournalFile.decode(new) == Self.journal(round))
            #expect(directory.readJournal() == Self.journal(round))
            if let old {
                #expect(old.count == new.count)
                let changed = new.indices.filter { old[$0] != new[$0] }
                // Any part of what was written makes it, and the rest does not.
                for cut in changed {
                    var torn = old
                    for index in changed where index < cut { torn[index] = new[index] }
                    #expect(DownloadJournalFile.decode(torn) == Self.journal(before), "round \(round) at \(cut)")
                }
                // All slots are lost but the one that was synced.
                let slot = new.count / 3
                let kept = (0..<3).map { index in
                    var rest = [UInt8](repeating: 0xEE, count: new.count)
                    let range = index * slot..<(index + 1) * slot
                    rest.replaceSubrange(range, with: new[range])
                    return DownloadJournalFile.decode(rest)
                }
                #expect(kept.contains(Self.journal(isDurable ? round : durable)), "round \(round)")
            }
            if isDurable || old == nil { durable = round }
            before = round
        }
    }

    @Test func itGrowsWhereTheRangesDo() throws {
        let paths = try folder.paths()
        let directory = try DownloadDirectory(paths)
        var file = DownloadJournalFile()
        var journal = Self.journal(1)
        for start in stride(from: Int64(10), to: 20_000, by: 20) {
            journal.safe.insert(start..<start + 10)
            try file.write(journal, isDurable: false, to: paths, in: directory)
            #expect(directory.readJournal() == journal)
        }
        #expect(folder.names == ["file.bin.part.journal"])
    }

    @Test func garbageIsNone() throws {
        var random = SeededGenerator(seed: 6)
        for count in [0, 1, 23, 24, 12_287, 12_288, 12_289, 24_576] {
            #expect(DownloadJournalFile.decode([UInt8](repeating: 0, count: count)) == nil)
            #expect(DownloadJournalFile.decode([UInt8](repeating: 0xFF, count: count)) == nil)
            let noise = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            #expect(DownloadJournalFile.decode(noise) == nil)
        }
    }
}
