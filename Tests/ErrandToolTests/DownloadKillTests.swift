import ErrandTesting
import Foundation
import Testing

/// What nginx was asked for under `/files/`.
struct DownloadLog {
    struct Entry: Equatable {
        var round: Int
        var status: Int
        /// Of the body, given to the kernel: more than the client may have read.
        var bytes: Int
        /// Where the range begins; 0 without one.
        var start: Int
    }

    let entries: [Entry]

    /// Once there is a line of that round: it is written when the last byte was sent, which may have come by then.
    init(_ nginx: NginxServer, round: Int) throws {
        var entries: [Entry] = []
        try blockUntil("the server has logged round \(round)") {
            entries = Self.read(nginx)
            return entries.last?.round == round
        }
        self.entries = entries
    }

    private static func read(_ nginx: NginxServer) -> [Entry] {
        let text = (try? String(contentsOfFile: nginx.directory + "/access.log", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 4, let round = Int(words[0]), let status = Int(words[1]), let bytes = Int(words[2])
            else { return nil }
            let start = Int(words[3].dropFirst(6).prefix { $0 != "-" }) ?? 0
            return Entry(round: round, status: status, bytes: bytes, start: start)
        }
    }
}

/// `kill -9` at seeded moments of one download: each run goes on where the one before was, but for 1 MB, and what comes out
/// is the file.
///
/// `ERRAND_DOWNLOAD_KILLS=100 ERRAND_DOWNLOAD_MEGABYTES=200` is the long run.
@Suite(.serialized, .timeLimit(.minutes(20))) struct DownloadKillTests {
    private static func setting(_ name: String, _ standard: Int) -> Int {
        ProcessInfo.processInfo.environment["ERRAND_DOWNLOAD_\(name)"].flatMap { Int($0) } ?? standard
    }

    private static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Bytes that differ everywhere, so that nothing out of place goes unnoticed.
    private static func write(_ count: Int, to path: String) throws {
        var random = SeededGenerator(seed: 77)
        var bytes = [UInt64](repeating: 0, count: count / 8)
        for index in bytes.indices { bytes[index] = random.next() }
        try bytes.withUnsafeBytes { try Data($0).write(to: URL(fileURLWithPath: path)) }
    }

    @Test func killedAtAnyMoment() throws {
        let (kills, total) = (Self.setting("KILLS", 20), Self.setting("MEGABYTES", 40) * 1_000_000)
        let nginx = try NginxServer()
        let folder = try TemporaryFolder()
        let source = nginx.directory + "/www/killed"
        try Self.write(total, to: source)
        let file = folder.file("killed").path
        var random = SeededGenerator(seed: 4711)
        let targets = (0..<kills).map { _ in Int(random.next() % UInt64(total - 3_000_000)) }.sorted()
        /// What was there when the n-th run was killed.
        var left = [0]
        let arguments = ["download", nginx.url("/files/killed"), "-q", "--limit-rate", "40m", "-o", file]
        for (index, target) in targets.enumerated() {
            let last = left[index]
            // So near to its end that another might be whole before it is killed.
            if last >= total - 3_000_000 { break }
            // Not before it has come further than the last one.
            let further = last + 1 + Int(random.next() % 100_000)
            let stop = min(max(target, further), total - 3_000_000)
            // The server stops there, however late the kill is: as far as it takes from where the run may begin, 1 MB back.
            let most = stop - last + 1_000_000 + (8 << 10)
            let run = try ProgramRun(
                ToolRun.executable.path,
                arguments + ["-H", "X-Round: \(index + 1)", "-H", "X-After: \(most)", "-H", "X-Rate: 1"])
            do {
                try blockUntil("\(stop) bytes are there") { Self.size(file + ".part") >= stop }
            } catch {
                run.kill()
                throw error
            }
            // Pause: the kill comes at a seeded moment.
            usleep(UInt32(random.next() % 10_000))
            run.kill()
            left.append(Self.size(file + ".part"))
            #expect(!FileManager.default.fileExists(atPath: file))
        }
        let runs = left.count
        let last = try ToolRun(arguments + ["-H", "X-Round: \(runs)"], seconds: 120)
        #expect(last.status == 0, "\(last.errors)")
        #expect(FileManager.default.contentsEqual(atPath: file, andPath: source))
        #expect(folder.names == ["killed"])

        let entries = try DownloadLog(nginx, round: runs).entries
        var twice = 0
        for entry in entries {
            let before = left[entry.round - 1]
            #expect(entry.start <= before && before - entry.start <= 1_000_000, "\(entry) after \(before)")
            #expect(entry.status == (entry.start == 0 ? 200 : 206))
            twice = max(twice, before - entry.start)
        }
        // All were killed in the middle of the body, but the last one.
        #expect(entries.map(\.round) == Array(1...runs))
        if kills > 20 {
            let resumed = entries.filter { $0.start > 0 }.count
            print(
                "\(runs - 1) kills of \(total) bytes: \(entries.count) requests, \(resumed) of them for a rest, at most "
                    + "\(twice) bytes of the part fetched again by one")
        }
    }
}
