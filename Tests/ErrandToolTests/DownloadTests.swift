import ErrandTesting
import Foundation
import Testing

/// What `errand download` leaves, says, and ends with.
@Suite(.timeLimit(.minutes(20))) struct DownloadTests {
    /// `1234567` as `1,234,567`.
    private func grouped(_ number: Int) -> String {
        let digits = String(String(number).reversed())
        let groups = stride(from: 0, to: digits.count, by: 3).map { String(digits.dropFirst($0).prefix(3)) }
        return String(groups.joined(separator: ",").reversed())
    }

    private static func hash(_ path: String) throws -> String {
        let folder = try TemporaryFolder()
        let output = folder.file("hash")
        try Data().write(to: output)
        _ = try ProgramRun("/usr/bin/sha256sum", [path], output: output.path).end()
        return String(try String(contentsOf: output, encoding: .utf8).prefix(64))
    }

    @Test func aFile() throws {
        let nginx = try NginxServer()
        let folder = try TemporaryFolder()
        let whole = try Data(contentsOf: URL(fileURLWithPath: nginx.directory + "/www/1m"))
        let digest = try Self.hash(nginx.directory + "/www/1m")
        let run = try ToolRun(
            ["download", nginx.url("/files/1m"), "-o", folder.url.path, "--sha256", digest, "--parallel", "2"])
        #expect(run.status == 0 && run.output.isEmpty)
        #expect(run.errors.hasPrefix("saved \(folder.file("1m").path): 1,048,576 bytes in "))
        #expect(run.errors.hasSuffix(", sha256 \(digest)\n"))
        #expect(try Data(contentsOf: folder.file("1m")) == whole)
        // It is there: an error, another name, or another file, as is said.
        let again = try ToolRun(["download", nginx.url("/files/1m"), "-o", folder.url.path])
        #expect(again.status == 73 && again.errors.hasSuffix(" already exists; see --overwrite and --no-clobber\n"))
        let numbered = try ToolRun(["download", nginx.url("/files/1m"), "-o", folder.url.path, "--no-clobber", "-q"])
        #expect(numbered.status == 0 && numbered.errors.isEmpty)
        let wrong = try ToolRun(
            ["download", nginx.url("/files/12b"), "-o", folder.file("1m").path, "--overwrite", "--sha256", digest])
        #expect(wrong.status == 15 && wrong.errors.hasSuffix(", expected \(digest)\n"), "\(wrong.errors)")
        #expect(try Data(contentsOf: folder.file("1m")) == whole)
        #expect(folder.names == ["1m", "1m (1)"])
        let replaced = try ToolRun(
            ["download", nginx.url("/redirect"), "-o", folder.file("1m").path, "--overwrite", "-q"])
        #expect(replaced.status == 0)
        #expect(try String(contentsOf: folder.file("1m"), encoding: .utf8) == "hello world\n")
    }

    /// A server that encodes whatever it is asked for, as some do with .gz files.
    @Test func encodedContents() throws {
        let server = try ScriptedServer()
        let folder = try TemporaryFolder()
        try server.on("/zeros", [.gzipZeros(100_000)])
        let decoded = try ToolRun(
            ["download", server.url("/zeros"), "-o", folder.file("decoded").path, "--compressed", "-q"])
        #expect(decoded.status == 0, "\(decoded.errors)")
        #expect(try Data(contentsOf: folder.file("decoded")) == Data(count: 100_000))
        let kept = try ToolRun(["download", server.url("/zeros"), "-o", folder.file("kept").path, "-q"])
        #expect(kept.status == 0, "\(kept.errors)")
        #expect(try Data(contentsOf: folder.file("kept")).prefix(2) == Data([0x1f, 0x8b]))
        #expect(
            server.requests.map { $0.values(of: "accept-encoding") } == [["gzip, deflate, br, zstd"], ["identity"]])
    }

    @Test func exitCodes() throws {
        let nginx = try NginxServer()
        let folder = try TemporaryFolder()
        func status(_ arguments: [String]) throws -> Int32 { try ToolRun(["download"] + arguments).status }
        let file = folder.file("file").path
        #expect(try status([nginx.url("/no"), "-o", file]) == 22)
        #expect(try status([nginx.url("/files/12b"), "-o", folder.file("no/file").path]) == 73)
        #expect(try status(["http://127.0.0.1:1/", "-o", file]) == 11)
        #expect(try status([nginx.url("/redirect/loop"), "-o", file]) == 17)
        #expect(try status(["ftp://127.0.0.1/", "-o", file]) == 64)
        #expect(try status([nginx.url("/12b"), "-o", file, "--sha256", "12"]) == 64)
        #expect(try status([nginx.url("/12b"), "-o", file, "--parallel", "65"]) == 64)
        #expect(try status([nginx.url("/12b"), "-o", file, "--overwrite", "--no-clobber"]) == 64)
        #expect(folder.names.isEmpty)
    }

    /// Interrupted it ends by itself, and run again it asks for the rest alone; but not of another file.
    @Test func interrupted() throws {
        let nginx = try NginxServer()
        let folder = try TemporaryFolder()
        let source = URL(fileURLWithPath: nginx.directory + "/www/moving")
        let download = ["download", nginx.url("/files/moving"), "-o", folder.file("moving").path]
        func hasBytes() -> Bool {
            let part = try? FileManager.default.attributesOfItem(atPath: folder.file("moving.part").path)
            return part?[.size] as? Int ?? 0 > 0
        }
        func interrupt(_ round: Int) throws {
            let run = try ToolRun(
                download + ["--limit-rate", "100k", "-H", "X-Round: \(round)"],
                interruptWhen: { folder.names == ["moving.part", "moving.part.journal"] && hasBytes() })
            #expect(run.status == 130)
            #expect(run.errors == "errand: interrupted; run the same command again to resume\n")
            #expect(folder.names == ["moving.part", "moving.part.journal"])
        }
        try Data(repeating: 1, count: 8 << 20).write(to: source)
        try interrupt(1)
        let part = try FileManager.default.attributesOfItem(atPath: folder.file("moving.part").path)[.size] as? Int ?? 0
        let resumed = try ToolRun(download + ["-H", "X-Round: 2"])
        #expect(resumed.status == 0 && resumed.errors.contains(" \(grouped(part)) of them from an earlier run\n"))
        #expect(try Data(contentsOf: folder.file("moving")) == Data(repeating: 1, count: 8 << 20))
        let rest = DownloadLog.Entry(round: 2, status: 206, bytes: (8 << 20) - part, start: part)
        #expect(try DownloadLog(nginx, round: 2).entries.last == rest)

        try FileManager.default.removeItem(at: folder.file("moving"))
        try interrupt(3)
        try Data(repeating: 2, count: 3 << 20).write(to: source)
        let changed = try ToolRun(download + ["-H", "X-Round: 4"])
        #expect(changed.status == 0 && !changed.errors.contains("from an earlier run"))
        #expect(try Data(contentsOf: folder.file("moving")) == Data(repeating: 2, count: 3 << 20))
        let last = try #require(DownloadLog(nginx, round: 4).entries.last)
        // The whole new file, though a part was asked for.
        #expect(last.round == 4 && last.status == 200 && last.start > 0 && last.bytes == 3 << 20)
    }

    /// A limit of file size is a full disk: what is there is kept, and gone on with when there is room.
    @Test func aFullDisk() throws {
        let nginx = try NginxServer()
        let folder = try TemporaryFolder()
        try Data(repeating: 3, count: 6 << 20).write(to: URL(fileURLWithPath: nginx.directory + "/www/big"))
        let arguments = ["download", nginx.url("/files/big"), "-o", folder.file("big").path]
        let errors = folder.file("errors")
        try Data().write(to: errors)
        let full = try ProgramRun(
            "/bin/sh", ["-c", "ulimit -f 8192; exec \"$@\"", "sh", ToolRun.executable.path] + arguments,
            errors: errors.path)
        #expect(full.end() == 73)
        #expect(try String(contentsOf: errors, encoding: .utf8).hasPrefix("errand: diskFull: "))
        try FileManager.default.removeItem(at: errors)
        #expect(folder.names == ["big.part", "big.part.journal"])
        let resumed = try ToolRun(arguments)
        #expect(resumed.status == 0 && resumed.errors.contains(" of them from an earlier run\n"))
        #expect(try Data(contentsOf: folder.file("big")) == Data(repeating: 3, count: 6 << 20))
    }

    /// What comes goes to the disk: memory is the same for a file of any size.
    @Test func memoryStaysSmall() throws {
        let megabytes = ProcessInfo.processInfo.environment["ERRAND_DOWNLOAD_SPARSE"].flatMap { Int($0) } ?? 300
        let nginx = try NginxServer()
        let folder = try TemporaryFolder()
        let source = nginx.directory + "/www/sparse"
        _ = FileManager.default.createFile(atPath: source, contents: nil)
        #expect(truncate(source, megabytes << 20) == 0)
        let run = try ProgramRun(
            ToolRun.executable.path, ["download", nginx.url("/files/sparse"), "-q", "-o", folder.file("sparse").path])
        var peak = 0
        var ended: Int32?
        while ended == nil {
            peak = max(peak, run.residentMemory ?? 0)
            ended = run.wait(seconds: 0.05)
        }
        #expect(ended == 0)
        #expect(peak > 0)
        #expect(peak < 32 << 10)
        let size = try FileManager.default.attributesOfItem(atPath: folder.file("sparse").path)[.size] as? Int
        #expect(size == megabytes << 20)
        if megabytes > 300 { print("a download of \(megabytes) MiB: \(peak) KiB resident at most") }
    }
}
