import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandDownloads

@Suite struct PartFileTests {
    private let folder: DownloadFolder

    init() throws {
        folder = try DownloadFolder()
    }

    @Test func aFileIsWrittenAndPutInPlace() throws {
        folder.write([9], "file.bin")
        var part = try PartFile.open(folder.paths(), url: "u", syncInterval: 100)
        #expect(part.journal == DownloadJournal(url: "u"))
        part.identify(DownloadValidators(entityTag: "\"a\""), length: 250)
        try part.write(DownloadContent.bytes(0..<250), at: 0)
        // Nothing more than the interval is unsafe, and what is safe is in the journal on disk.
        #expect(part.journal.safe.ranges == [0..<200])
        let journal = try #require(folder.journal())
        #expect(journal == part.journal && journal.length == 250 && journal.validators.entityTag == "\"a\"")
        #expect(folder.bytes("file.bin") == [9])
        #expect(try part.read(1000, at: 240) == DownloadContent.bytes(240..<250))
        #expect(try part.install() == folder.path + "/file.bin")
        #expect(folder.bytes("file.bin") == DownloadContent.bytes(0..<250))
        #expect(folder.names == ["file.bin"])
    }

    @Test func anEmptyFileIsAFile() throws {
        var part = try PartFile.open(folder.paths(), url: "u")
        _ = try part.install()
        #expect(folder.bytes("file.bin") == [] && folder.names == ["file.bin"])
    }

    private func leave(_ count: Int64, url: String = "u", sync: Bool = true) throws {
        var part = try PartFile.open(folder.paths(), url: url, syncInterval: 1000)
        part.identify(DownloadValidators(entityTag: "\"a\""), length: 5000)
        try part.write(DownloadContent.bytes(0..<count), at: 0)
        if sync { try part.sync() }
    }

    @Test func whatIsNotSafeIsCutOff() throws {
        try leave(1500, sync: false)
        folder.write(try #require(folder.bytes("file.bin.part")) + [1, 2, 3], "file.bin.part")
        let part = try PartFile.open(folder.paths(), url: "u")
        #expect(part.journal.safe.ranges == [0..<1000] && part.journal.length == 5000)
        #expect(folder.bytes("file.bin.part") == DownloadContent.bytes(0..<1000))
    }

    @Test func aShorterFileIsWorthWhatItHas() throws {
        try leave(1500)
        folder.write(DownloadContent.bytes(0..<700), "file.bin.part")
        let part = try PartFile.open(folder.paths(), url: "u")
        #expect(part.journal.safe.ranges == [0..<700])
        // On disk, too, and before anything is written.
        #expect(folder.journal() == part.journal)
    }

    @Test func nothingIsKeptOfWhatCannotBeTrusted() throws {
        let damages: [(String, () throws -> Void)] = [
            ("another URL", { try leave(1500, url: "v") }),
            (
                "a torn journal",
                {
                    try leave(1500);
                    folder.write(Array(folder.bytes("file.bin.part.journal")!.dropLast()), "file.bin.part.journal")
                }
            ),
            (
                "an empty journal",
                {
                    try leave(1500); folder.write([], "file.bin.part.journal")
                }
            ),
            (
                "no part",
                {
                    try leave(1500); try FileManager.default.removeItem(atPath: folder.path + "/file.bin.part")
                }
            ),
        ]
        for (what, damage) in damages {
            try damage()
            let part = try PartFile.open(folder.paths(), url: "u")
            #expect(part.journal == DownloadJournal(url: "u"), "\(what)")
            #expect(folder.bytes("file.bin.part") == [], "\(what)")
            // Not to be found beside the bytes that come now.
            #expect(folder.bytes("file.bin.part.journal") == nil, "\(what)")
        }
    }

    /// Bytes without a journal are not ours, whatever the file is called.
    @Test func somebodyElsesPartStays() throws {
        folder.write([1, 2], "file.bin.part")
        for overwrite in [OverwritePolicy.replace, .fail, .number] {
            #expect(throws: ErrandError.fileExists) {
                _ = try PartFile.open(folder.paths(), url: "u", overwrite: overwrite)
            }
        }
        #expect(folder.bytes("file.bin.part") == [1, 2] && folder.names == ["file.bin.part"])
    }

    /// So ours has one whenever it has a byte.
    @Test func thereIsAJournalBeforeTheFirstByte() throws {
        var part = try PartFile.open(folder.paths(), url: "u")
        #expect(folder.names == ["file.bin.part"])
        try part.write([1], at: 0)
        #expect(folder.journal()?.url == "u" && folder.journal()?.safe.isEmpty == true)
        try part.restart()
        try part.write([2], at: 0)
        #expect(folder.journal()?.url == "u")
    }

    @Test func aRestartLeavesNothing() throws {
        try leave(1500)
        var part = try PartFile.open(folder.paths(), url: "u")
        try part.restart()
        #expect(part.journal == DownloadJournal(url: "u") && folder.names == ["file.bin.part"])
        try part.write([5], at: 0)
        try part.sync()
        #expect(folder.bytes("file.bin.part") == [5])
        try part.discard()
        #expect(folder.names == [])
    }

    /// Reserved for a length that was promised, and never written: nobody else could use it.
    @Test func whatWasReservedIsGivenBack() throws {
        do {
            var part = try PartFile.open(folder.paths(), url: "u")
            try part.reserve(64 << 20)
            // Killed before a byte came.
        }
        do {
            var part = try PartFile.open(folder.paths(), url: "u")
            let atFirst = try #require(folder.allocated("file.bin.part"))
            #expect(atFirst < 1 << 20)
            try part.reserve(64 << 20)
            try part.write(DownloadContent.bytes(0..<5000), at: 0)
            part.keep()
        }
        let kept = try #require(folder.allocated("file.bin.part"))
        #expect(kept < 1 << 20)
        #expect(folder.bytes("file.bin.part") == DownloadContent.bytes(0..<5000))
        // The length was another content's.
        var part = try PartFile.open(folder.paths(), url: "u")
        #expect(part.journal.safe.ranges == [0..<5000])
        try part.reserve(64 << 20)
        _ = try part.install()
        let installed = try #require(folder.allocated("file.bin"))
        #expect(installed < 1 << 20)
        #expect(folder.bytes("file.bin") == DownloadContent.bytes(0..<5000))
    }

    @Test func rangesInAnyOrder() throws {
        var part = try PartFile.open(folder.paths(), url: "u", syncInterval: 64)
        var random = SeededGenerator(seed: 3)
        for start in stride(from: Int64(0), to: 2000, by: 100).shuffled(using: &random) {
            try part.write(DownloadContent.bytes(start..<start + 100), at: start)
        }
        try part.sync()
        #expect(part.journal.safe.ranges == [0..<2000])
        _ = try part.install()
        #expect(folder.bytes("file.bin") == DownloadContent.bytes(0..<2000))
    }

    @Test func oneOwnerAtATime() throws {
        do {
            let part = try PartFile.open(folder.paths(), url: "u")
            #expect(throws: ErrandError.fileLocked) { _ = try PartFile.open(folder.paths(), url: "u") }
            #expect(try part.read(1, at: 0) == [])
        }
        var part = try PartFile.open(folder.paths(), url: "u")
        _ = try part.install()
        // The lock went with the file to its place; the next part is another file.
        let next = try PartFile.open(folder.paths(), url: "u")
        #expect(next.journal.safe.isEmpty)
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    /// Whoever lists what is there takes no part from a download that begins.
    @Test func aListIsNoOwner() async throws {
        try leave(1500)
        let folder = folder
        let isOver = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !isOver.value.load(ordering: .relaxed) { _ = try Downloads.unfinished(in: folder.path) }
            }
            defer { isOver.value.store(true, ordering: .relaxed) }
            var stalls = 0
            for _ in 0..<300 {
                var isOpen = false
                for attempt in 0..<1000 where !isOpen {
                    do {
                        let part = try PartFile.open(folder.paths(), url: "u")
                        #expect(part.journal.safe.prefixEnd == 1500)
                        isOpen = true
                    } catch ErrandError.fileLocked {
                        // The machine may stop the thread that lists for longer than `PartFile` tries.
                        if attempt == 0 { stalls += 1 }
                    }
                }
                #expect(isOpen)
            }
            #expect(stalls < 10)
        }
    }

    /// The bytes were safe and the journal could not say so: the next sync does, though no byte came since.
    @Test func aJournalThatIsBehind() throws {
        let obstacle = folder.path + "/file.bin.part.journal.new"
        var part = try PartFile.open(folder.paths(), url: "u", syncInterval: 100)
        try part.write(DownloadContent.bytes(0..<50), at: 0)
        try FileManager.default.removeItem(atPath: folder.path + "/file.bin.part.journal")
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
        #expect(throws: ErrandError.self) { try part.write(DownloadContent.bytes(50..<100), at: 50) }
        #expect(folder.journal() == nil)
        try FileManager.default.removeItem(atPath: obstacle)
        part.keep()
        #expect(folder.journal()?.safe.ranges == [0..<100])
    }

    /// A download that writes to files which nobody would find says so.
    @Test func removedMeanwhile() throws {
        var part = try PartFile.open(folder.paths(), url: "u", syncInterval: 100)
        try part.write(DownloadContent.bytes(0..<100), at: 0)
        try FileManager.default.removeItem(atPath: folder.path + "/file.bin.part.journal")
        try part.write(DownloadContent.bytes(100..<200), at: 100)
        #expect(folder.journal()?.safe.ranges == [0..<200])
        try FileManager.default.removeItem(atPath: folder.path + "/file.bin.part")
        #expect(throws: ErrandError.fileUnwritable) { try part.write(DownloadContent.bytes(200..<300), at: 200) }
        let place = folder.path + "/gone"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        var lost = try PartFile.open(folder.paths("gone/file.bin"), url: "u", syncInterval: 100)
        try FileManager.default.removeItem(atPath: place)
        #expect(throws: ErrandError.self) { try lost.write(DownloadContent.bytes(0..<100), at: 0) }
    }

    @Test func overwriting() throws {
        folder.write([1], "file.bin")
        #expect(throws: ErrandError.fileExists) { _ = try PartFile.open(folder.paths(), url: "u", overwrite: .fail) }
        #expect(folder.names == ["file.bin"])
        // It comes while the download runs.
        var late = try PartFile.open(folder.paths("late"), url: "u", overwrite: .fail)
        try late.write([2], at: 0)
        folder.write([1], "late")
        #expect(throws: ErrandError.fileExists) { _ = try late.install(.fail) }
        #expect(folder.bytes("late") == [1] && folder.bytes("late.part") == [2])
        #expect(try late.install(.number) == folder.path + "/late (1)")
        #expect(folder.bytes("late (1)") == [2])
        for expected in ["file (1).bin", "file (2).bin"] {
            var part = try PartFile.open(folder.paths(), url: "u", overwrite: .number)
            #expect(try part.install(.number) == folder.path + "/" + expected)
        }
        var other = try PartFile.open(folder.paths("new"), url: "u", overwrite: .fail)
        #expect(try other.install(.fail) == folder.path + "/new")
    }

    @Test func placesThatCannotBe() throws {
        try FileManager.default.createDirectory(atPath: folder.path + "/dir", withIntermediateDirectories: false)
        folder.write([], "plain")
        folder.write([7], "victim")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link.part", withDestinationPath: folder.path + "/victim")
        try FileManager.default.createDirectory(atPath: folder.path + "/x.part", withIntermediateDirectories: false)
        mkfifo(folder.path + "/pipe.part", 0o600)
        let table: [(String, ErrandError)] = [
            ("dir", .fileIsDirectory), ("dir/", .fileIsDirectory), ("..", .fileIsDirectory), ("", .fileIsDirectory),
            ("none/file", .directoryMissing), ("plain/file", .directoryMissing), ("x", .fileIsDirectory),
            ("link", .fileUnwritable), ("pipe", .fileUnwritable), ("a\u{0}b", .fileUnwritable),
            (String(repeating: "n", count: 255), .fileUnwritable),
        ]
        for (name, error) in table {
            #expect(throws: error, "\(name)") { _ = try PartFile.open(folder.paths(name), url: "u") }
        }
        #expect(folder.bytes("victim") == [7])
        #expect(ErrandError.file("p", "x", errno: EACCES) == .fileAccessDenied)
        #expect(ErrandError.file("p", "x", errno: EROFS) == .fileAccessDenied)
        for number in [ENOSPC, EDQUOT, EFBIG] {
            let error = ErrandError.file("p", "x", errno: number)
            #expect(error == .diskFull && error.systemErrorCode == Int(number))
        }
    }

    @Test func paths() throws {
        for (destination, directory, name) in [
            ("a", ".", "a"), ("/a", "/", "a"), ("b/a", "b", "a"), ("/c//a", "/c/", "a"),
        ] {
            let paths = try DownloadPaths(destination: destination)
            #expect(paths.directory == directory && paths.name == name)
        }
        #expect(try DownloadPaths(destination: "/a").destination == "/a")
        #expect(try DownloadPaths(destination: "a").numbered(2).destination == "a (2)")
    }
}
