import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandDownloads

@Suite(.serialized) struct PartFileDiskTests {
    private static let chunk: Int64 = 64 << 10

    /// Writes until the disk is full; what was safe before then must be so afterwards.
    private static func fill(_ folder: String) throws -> Bool {
        let paths = try DownloadPaths(destination: folder + "/file.bin")
        var safe = ByteRangeSet()
        do {
            var part = try PartFile.open(paths, url: "u", syncInterval: 128 << 10)
            do {
                for offset in stride(from: Int64(0), to: 4 << 20, by: Int(chunk)) {
                    try part.write(DownloadContent.bytes(offset..<offset + chunk), at: offset)
                }
                return false
            } catch ErrandError.diskFull {
                safe = part.journal.safe
            }
        }
        guard safe.prefixEnd >= 512 << 10, safe.prefixEnd < 1 << 20 else { return false }
        let part = try PartFile.open(paths, url: "u")
        let kept = part.journal.safe
        let bytes = try part.read(Int(kept.end), at: 0)
        return kept.prefixEnd >= safe.prefixEnd - 128 << 10 && bytes == DownloadContent.bytes(0..<kept.end)
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> Bool {
        try ProgramRun(program, arguments).wait(seconds: 120) == 0
    }

    /// A file system of 1 MiB; only root may make one, and not everywhere.
    @Test func aFullDisk() throws {
        let folder = try DownloadFolder()
        guard geteuid() == 0, try Self.run("/bin/mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder.path]) else {
            return
        }
        defer { _ = try? Self.run("/bin/umount", ["-l", folder.path]) }
        #expect(try Self.fill(folder.path))
        var part = try PartFile.open(folder.paths("other"), url: "u")
        #expect(throws: ErrandError.diskFull) { try part.reserve(16 << 20) }
    }

    /// A limit of file size, in a process of its own.
    @Test func aLimitOfFileSize() async throws {
        let folder = try DownloadFolder()
        let path = folder.path
        await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 900 << 10, rlim_max: 900 << 10)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            exit(try PartFileDiskTests.fill(path) ? 7 : 1)
        }
    }

    private static let total: Int64 = 24 << 20
    private static let interval: Int64 = 256 << 10

    /// Goes on where the journal says, until it is killed. `isSplit`: two stretches in turn.
    private static func writeUntilKilled(
        _ folder: String, after chunks: Int, _ microseconds: Int, isSplit: Bool
    ) throws {
        var part = try PartFile.open(DownloadPaths(destination: folder + "/file.bin"), url: "u", syncInterval: interval)
        part.identify(DownloadValidators(entityTag: "\"a\""), length: total)
        var gaps = part.journal.safe.gaps(below: total).ranges
        if isSplit, let gap = gaps.first, gap.count > 2 {
            let middle = gap.lowerBound + Int64(gap.count) / 2
            gaps.replaceSubrange(0..<1, with: [gap.lowerBound..<middle, middle..<gap.upperBound])
        }
        var turn = 0
        while !gaps.isEmpty {
            turn += 1
            if turn == chunks {
                // From beside: in the middle of whatever the disk is doing then.
                DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) {
                    kill(getpid(), SIGKILL)
                }
            }
            let index = isSplit ? turn % gaps.count : 0
            let start = gaps[index].lowerBound
            let end = min(start + 16 << 10, gaps[index].upperBound)
            try part.write(DownloadContent.bytes(start..<end), at: start)
            gaps[index] = end..<gaps[index].upperBound
            if gaps[index].isEmpty { gaps.remove(at: index) }
        }
        // The other thread came too late, or there was less to write than that.
        try part.sync()
        kill(getpid(), SIGKILL)
    }

    /// Killed at 20 moments, and each time garbage in place of what was written last: what the journal calls safe is what
    /// was written, and nothing more than the interval is lost.
    @Test(arguments: [false, true]) func killed(isSplit: Bool) async throws {
        let folder = try DownloadFolder()
        let (path, paths) = (folder.path, try folder.paths())
        var random = SeededGenerator(seed: isSplit ? 9 : 8)
        var before = ByteRangeSet()
        for round in 0..<10 {
            let (chunks, delay) = (1 + Int(random.next() % 100), Int(random.next() % 5000))
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, chunks = chunks as Int, delay = delay as Int, isSplit = isSplit as Bool] in
                try PartFileDiskTests.writeUntilKilled(path, after: chunks, delay, isSplit: isSplit)
            }
            guard var file = folder.bytes("file.bin.part") else { continue }
            let journal = try DownloadDirectory(paths).readJournal()
            let safe = journal?.safe ?? ByteRangeSet()
            #expect(safe.end <= file.count, "round \(round)")
            if !isSplit { #expect(Int64(file.count) <= safe.end + Self.interval, "round \(round)") }
            for range in safe.ranges {
                #expect(Array(file[Int(range.lowerBound)..<Int(range.upperBound)]) == DownloadContent.bytes(range))
            }
            // What was safe stays so.
            var both = safe
            both.formUnion(before)
            #expect(both == safe, "round \(round)")
            before = safe
            for index in Int(safe.end)..<max(file.count, Int(safe.end)) { file[index] = 0xEE }
            if random.next() % 2 == 0 { file += [UInt8](repeating: 0xDD, count: 5000) }
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path + "/file.bin.part"))
            try handle.write(contentsOf: file)
            try handle.close()
        }
        #expect(!before.isEmpty)
        var part = try PartFile.open(paths, url: "u")
        for gap in part.journal.safe.gaps(below: Self.total).ranges {
            try part.write(DownloadContent.bytes(gap), at: gap.lowerBound)
        }
        _ = try part.install()
        #expect(folder.bytes("file.bin") == DownloadContent.bytes(0..<Self.total))
        #expect(folder.names == ["file.bin"])
    }
}
