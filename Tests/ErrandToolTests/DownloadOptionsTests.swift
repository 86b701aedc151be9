import ErrandTesting
import Foundation
import Testing

/// What the options of `errand download` make of several URLs, of what is at a destination, and of what was begun.
@Suite(.timeLimit(.minutes(20))) struct DownloadOptionsTests {
    private static let content = "0123456789"

    private func head(_ status: String, _ fields: String..., count: Int) -> String {
        let lines = ["HTTP/1.1 \(status)", "ETag: \"a\"", "Content-Length: \(count)"] + fields
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    private var whole: ScriptedServer.Step { .send(head("200 OK", count: 10) + Self.content) }
    /// Half of it, and then nothing.
    private var half: [ScriptedServer.Step] { [.send(head("200 OK", count: 10) + "01234"), .stall] }

    private func text(_ url: URL) -> String { (try? String(contentsOf: url, encoding: .utf8)) ?? "" }

    /// Interrupts a download of which the server sends half.
    private func interrupt(
        _ url: String, _ file: URL, _ options: [String] = [], by signal: Int32 = SIGINT
    ) throws -> ToolRun {
        try ToolRun(
            ["download", url, "-o", file.path] + options,
            interruptWhen: {
                let part = try? FileManager.default.attributesOfItem(atPath: file.path + ".part")
                return part?[.size] as? Int == 5
            }, signal: signal)
    }

    @Test func severalURLs() throws {
        let server = try ScriptedServer()
        for path in ["/a", "/b"] { try server.on(path, [whole]) }
        let folder = try TemporaryFolder()
        let (a, b, none) = (server.url("/a"), server.url("/b"), server.url("/none"))
        let run = try ToolRun(["download", a, none, b, "-o", folder.url.path])
        #expect(run.status == 22 && folder.names == ["a", "b"])
        let lines = run.errors.split(separator: "\n")
        #expect(lines.count == 3 && lines[0].hasPrefix("saved ") && lines[2].hasPrefix("saved "), "\(run.errors)")
        #expect(lines[1].hasPrefix("errand: \(none): statusNotAccepted: "), "\(run.errors)")
        let named = try ToolRun(
            ["download", a, b, "-o", folder.file("x").path, "-o", folder.file("y").path, "-q"])
        #expect(named.status == 0 && named.errors.isEmpty && folder.names == ["a", "b", "x", "y"])
        let same = try ToolRun(["download", a, b, "-o", folder.file("z").path, "-o", folder.file("z").path])
        #expect(same.status == 64 && same.errors == "errand: -o names the same file twice\n")
        let digests = try ToolRun(["download", a, b, "--sha256", String(repeating: "0", count: 64)])
        #expect(digests.status == 64 && digests.errors == "errand: --sha256 is given 1 times for 2 URLs\n")
    }

    @Test func standardOutput() throws {
        let server = try ScriptedServer()
        try server.on("/a", [whole])
        try server.on("/r", [.send("HTTP/1.1 302 F\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n")])
        let folder = try TemporaryFolder()
        let run = try ToolRun(
            ["download", server.url("/r"), server.url("/a"), "-o-", "-o-"],
            shell: "cd '\(folder.url.path)'; exec \"$@\"")
        #expect(run.status == 0 && run.text == Self.content + Self.content && run.errors.isEmpty, "\(run.errors)")
        #expect(folder.names.isEmpty)
        #expect(server.requests.allSatisfy { $0.values(of: "accept-encoding") == ["identity"] })
        let missing = try ToolRun(["download", server.url("/none"), "-o", "-"])
        #expect(missing.status == 22 && missing.output.isEmpty)
        let digest = try ToolRun(["download", server.url("/a"), "-o", "-", "--retries", "2"])
        #expect(
            digest.status == 64 && digest.errors == "errand: --retries requires a file and cannot be used with -o -\n")
    }

    @Test func overwriteReplacesFilesAlone() throws {
        let server = try ScriptedServer()
        try server.on(nil, [whole])
        let folder = try TemporaryFolder()
        try Data("old".utf8).write(to: folder.file("real"))
        #expect(symlink("real", folder.file("link").path) == 0 && mkfifo(folder.file("pipe").path, 0o600) == 0)
        let url = server.url("/a")
        let linked = try ToolRun(["download", url, "-o", folder.file("link").path, "--overwrite", "-q"])
        #expect(linked.status == 0 && text(folder.file("real")) == Self.content, "\(linked.errors)")
        let pipe = try ToolRun(["download", url, "-o", folder.file("pipe").path, "--overwrite"])
        #expect(pipe.status == 73 && pipe.errors.contains("is not a regular file"), "\(pipe.errors)")
        var status = stat()
        #expect(lstat(folder.file("link").path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(lstat(folder.file("pipe").path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
        #expect(folder.names == ["link", "pipe", "real"])
    }

    /// Run again, a script is as content as the first time.
    @Test func aFinishedFileIsEnough() throws {
        let server = try ScriptedServer()
        try server.on("/a", [whole])
        let folder = try TemporaryFolder()
        let digest = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"
        for output in [folder.url.path, folder.file("a").path] {
            for _ in 0..<2 {
                let run = try ToolRun(["download", server.url("/a"), "-o", output, "--sha256", digest])
                #expect(run.status == 0 && run.errors.hasSuffix(", sha256 \(digest)\n"), "\(run.errors)")
            }
        }
        #expect(folder.names == ["a"])
        let other = String(repeating: "0", count: 64)
        let wrong = try ToolRun(["download", server.url("/a"), "-o", folder.file("b").path, "--sha256", other])
        #expect(wrong.status == 15)
        #expect(wrong.errors == "errand: digestMismatch: SHA-256 is \(digest), expected \(other)\n")
        #expect(
            try ToolRun(["download", server.url("/a"), "-o", folder.file("a").path, "--sha256", other]).status == 73)
    }

    /// By choice, for a URL that is misspelt is to be told at once.
    @Test func retriesCoverTheFirstConnection() throws {
        let port = try FaultPort(.refused)
        let folder = try TemporaryFolder()
        let start = ContinuousClock.now
        let arguments = ["download", "127.0.0.1:\(port.number)/a", "-o", folder.file("a").path, "--retries", "1"]
        #expect(try ToolRun(arguments).status == 11)
        // A second, of which a fifth may be left out.
        #expect(ContinuousClock.now - start >= .milliseconds(800))
    }

    /// Whatever the server answers, the next run does not end as this one did.
    @Test func wrongRangesDoNotStick() throws {
        for wrong in [
            // Another range than was asked for; a length that is not the range's; the whole behind the head of a part.
            head("206 P", "Content-Range: bytes 0-9/10", count: 10) + Self.content,
            head("206 P", "Content-Range: bytes 5-9/10", count: 10) + Self.content,
            "HTTP/1.1 206 P\r\nETag: \"a\"\r\nContent-Range: bytes 5-9/10\r\nConnection: close\r\n\r\n" + Self.content,
        ] {
            let server = try ScriptedServer()
            let folder = try TemporaryFolder()
            let file = folder.file("a")
            try server.on("/a", half)
            try server.on("/a", [.send(wrong), .finish])
            try server.on("/a", [whole])
            #expect(try interrupt(server.url("/a"), file).status == 130)
            let run = try ToolRun(["download", server.url("/a"), "-o", file.path, "-q"])
            #expect(run.status == 0 && text(file) == Self.content, "\(wrong): \(run.errors)")
            #expect(server.requests.map { $0.values(of: "range") } == [[], ["bytes=5-"], []])
        }
    }

    @Test func goesOnWhereOnlyTheQueryIsAnotherByChoice() throws {
        let server = try ScriptedServer()
        let folder = try TemporaryFolder()
        let file = folder.file("a")
        try server.on("/a", half)
        try server.on("/a", [.send(head("206 P", "Content-Range: bytes 5-9/10", count: 5) + "56789")])
        #expect(try interrupt(server.url("/a?signature=1"), file).status == 130)
        let run = try ToolRun(["download", server.url("/a?signature=2"), "-o", file.path, "--ignore-query"])
        #expect(run.status == 0 && text(file) == Self.content && run.errors.contains(", 5 of them from an earlier run"))
        #expect(server.requests.map { $0.values(of: "range") } == [[], ["bytes=5-"]])
    }

    /// SIGINT: `DownloadTests.interrupted`.
    @Test(arguments: [SIGHUP, SIGTERM])
    func signalsKeepWhatCame(_ signal: Int32) throws {
        let server = try ScriptedServer()
        let folder = try TemporaryFolder()
        try server.on("/a", half)
        try server.on("/a", [.send(head("206 P", "Content-Range: bytes 5-9/10", count: 5) + "56789")])
        let run = try interrupt(server.url("/a"), folder.file("a"), by: signal)
        #expect(run.status == 128 + signal && folder.names == ["a.part", "a.part.journal"], "\(run.errors)")
        #expect(try ToolRun(["download", server.url("/a"), "-o", folder.file("a").path]).status == 0)
        #expect(text(folder.file("a")) == Self.content && folder.names == ["a"])
    }

    @Test func credentialsOfAURLAnswerDigest() throws {
        let server = try ScriptedServer()
        try server.on("/a", [.digest(username: "ada", password: "secret"), whole])
        let folder = try TemporaryFolder()
        let bare = server.url("/a").replacingOccurrences(of: "http://", with: "")
        let run = try ToolRun(["download", "ada:secret@" + bare, "-o", folder.url.path])
        #expect(run.status == 0 && text(folder.file("a")) == Self.content, "\(run.errors)")
    }
}
