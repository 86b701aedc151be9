import Errand
import ErrandTesting
import Testing

@testable import ErrandDownloads

@Suite struct DownloadJournalTests {
    static func random(_ random: inout SeededGenerator) -> DownloadJournal {
        func text(_ random: inout SeededGenerator) -> String? {
            let texts = [nil, "", "\"a\"", "W/\"é€\"", String(repeating: "x", count: 300)]
            return texts[Int(random.next() % 5)]
        }
        var journal = DownloadJournal(url: "http://h/" + (text(&random) ?? ""))
        journal.validators = DownloadValidators(
            entityTag: text(&random), lastModified: text(&random), date: text(&random))
        for _ in 0..<random.next() % 5 {
            let start = Int64(random.next() >> 2)
            journal.safe.insert(start..<start + 1 + Int64(random.next() % 1000))
        }
        if random.next() % 2 == 0 { journal.length = journal.safe.end + Int64(random.next() % 2) }
        return journal
    }

    @Test func comesBackAsItWas() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            let journal = Self.random(&generator)
            #expect(DownloadJournal(decoding: journal.encoded) == journal)
        }
    }

    /// No single change, cut or addition goes unseen.
    @Test func everyDamageIsSeen() {
        var journal = DownloadJournal(url: "http://h/file")
        journal.validators.entityTag = "\"a\""
        journal.safe = ByteRangeSet([0..<1 << 20, 3 << 20..<4 << 20])
        let bytes = journal.encoded
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                #expect(DownloadJournal(decoding: damaged) == nil, "byte \(index) bit \(bit)")
            }
            #expect(DownloadJournal(decoding: Array(bytes[..<index])) == nil, "cut at \(index)")
        }
        #expect(DownloadJournal(decoding: bytes + [0]) == nil)
    }

    /// Garbage with a sound checksum, so that the reader itself is met.
    @Test(arguments: 1...8 as ClosedRange<UInt64>) func garbageIsNone(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var bytes = Array(Self.random(&generator).encoded.dropLast(8))
            for _ in 0..<1 + generator.next() % 6 {
                let index = Int(generator.next() % UInt64(bytes.count))
                switch generator.next() % 4 {
                case 0: bytes[index] = UInt8(truncatingIfNeeded: generator.next())
                case 1: bytes[index] = 0xFF
                case 2: bytes.removeSubrange(index...)
                default: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: index)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            var writer = BinaryWriter(bytes)
            writer.number(UInt64(Checksum.crc32(bytes)))
            if let journal = DownloadJournal(decoding: writer.output) {
                #expect(journal.encoded == writer.output)
                #expect(journal.safe.end <= journal.length ?? .max)
            }
            let noise = (0..<generator.next() % 200).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            #expect(DownloadJournal(decoding: noise) == nil)
        }
    }
}
