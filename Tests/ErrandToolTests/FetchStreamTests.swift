import ErrandTesting
import Foundation
import Testing

/// Bodies go out and in as they come, whatever their size; and what becomes of them where nobody takes them.
@Suite(.timeLimit(.minutes(20))) struct FetchStreamTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func text(_ url: URL) -> String { (try? String(contentsOf: url, encoding: .utf8)) ?? "" }

    @Test func eventsAreSeenWhenTheyAreSent() throws {
        let server = try ScriptedServer()
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        try server.on("/", [.send(head + "data: 1\n\n"), .stall, .send("data: 2\n\n"), .finish])
        let folder = try TemporaryFolder()
        let output = folder.file("output")
        try Data().write(to: output)
        let run = try ProgramRun(
            ToolRun.executable.path, ["fetch", server.url("/")], output: output.path, errors: "/dev/null")
        defer { run.kill() }
        try blockUntil("the first event is seen") { text(output) == "data: 1\n\n" }
        server.release()
        #expect(run.wait(seconds: 300) == 0)
        #expect(text(output) == "data: 1\n\ndata: 2\n\n")
    }

    @Test func memoryIsTheSameForAnySize() throws {
        let (server, folder) = (try ScriptedServer(), try TemporaryFolder())
        let count = 200 << 20
        let block = String(repeating: "x", count: 1 << 20)
        try server.on(
            "/down", [.send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"), .sendRepeated(block, times: 200)])
        try server.on("/up", [.readBody, .send(Self.ok)])
        let pipe = folder.file("pipe").path
        #expect(mkfifo(pipe, 0o600) == 0)
        signal(SIGPIPE, SIG_IGN)
        func peak(_ arguments: [String], input: String = "/dev/null") throws -> Int {
            let output = folder.file("output")
            try Data().write(to: output)
            let run = try ProgramRun(ToolRun.executable.path, ["fetch"] + arguments, input: input, output: output.path)
            var (peak, ended): (Int, Int32?) = (0, nil)
            while ended == nil {
                peak = max(peak, run.residentMemory ?? 0)
                ended = run.wait(seconds: 0.02)
            }
            #expect(ended == 0, "\(arguments) \(text(output).suffix(200))")
            return peak
        }
        // Two expectations each: a failing one shows the figure.
        let down = try peak([server.url("/down")])
        #expect(down > 0)
        #expect(down < 32 << 10)
        for arguments in [["-T", "-"], ["-d", "@-"]] {
            Thread.detachNewThread {
                guard let file = FileHandle(forWritingAtPath: pipe) else { return }
                let block = Data(count: 1 << 20)
                for _ in 0..<200 where (try? file.write(contentsOf: block)) == nil { break }
            }
            let up = try peak(arguments + [server.url("/up")], input: pipe)
            #expect(up > 0, "\(arguments)")
            #expect(up < 32 << 10, "\(arguments)")
        }
        #expect(server.requests.suffix(2).map(\.method) == ["PUT", "POST"])
    }

    @Test func aReaderThatHasEnoughIsNoError() throws {
        let server = try ScriptedServer()
        try server.on(
            "/",
            [.send("HTTP/1.1 200 OK\r\n\r\n"), .sendRepeated(String(repeating: "0123456789", count: 1000), times: nil)])
        let run = try ToolRun(["fetch", server.url("/")], shell: "set -o pipefail; \"$@\" | head -c 10")
        #expect(run.text == "0123456789")
        // As of cat: by SIGPIPE, without a word.
        #expect(run.status == 141 && run.errors.isEmpty, "\(run.status) \(run.errors)")
    }

    @Test func aClosedOutputIsNobodyElses() throws {
        let server = try ScriptedServer()
        try server.on("/", [.send(Self.ok)])
        let run = try ToolRun(["fetch", server.url("/")], shell: "exec \"$@\" >&-")
        #expect(run.status == 73 && run.errors.hasSuffix("cannot write '-': Bad file descriptor\n"), "\(run.errors)")
        let all = try ToolRun(["fetch", server.url("/"), "-o", "/dev/null"], shell: "exec \"$@\" <&- >&- 2>&-")
        #expect(all.status == 0)
    }

    @Test func binaryIsNotForTerminals() throws {
        let server = try ScriptedServer()
        try server.on("/", [.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"), .sendBytes([1, 0, 2])])
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        defer { close(terminal) }
        // TIOCSPTLCK and TIOCGPTN, which Swift does not see: unlock, and tell the number.
        var (lock, number): (Int32, UInt32) = (0, 0)
        #expect(terminal >= 0 && ioctl(terminal, 0x4004_5431, &lock) == 0 && ioctl(terminal, 0x8004_5430, &number) == 0)
        let device = "/dev/pts/\(number)"
        // Open all the time: a terminal that nobody has open hangs up.
        let other = open(device, O_RDWR | O_NOCTTY)
        defer { close(other) }
        let refused = try ToolRun(["fetch", server.url("/")], outputTo: device)
        #expect(refused.status == 73 && refused.errors.contains("-o - to print it anyway"), "\(refused.errors)")
        #expect(try ToolRun(["fetch", server.url("/"), "-o", "-"], outputTo: device).status == 0)
        // Elsewhere it is data as any other.
        #expect(try ToolRun(["fetch", server.url("/")]).output == Data([1, 0, 2]))
    }

    @Test func headsHoldNothingThatATerminalObeys() throws {
        let server = try ScriptedServer()
        let bytes = Array("HTTP/1.1 200 O\u{1B}[2J\r\nX-A: \u{1B}]0;x\u{7}\tb\r\nX-B: ".utf8) + [0x9B, 0x41]
        try server.on("/", [.sendBytes(bytes + Array("\r\nX-C: \u{9B}é\r\nContent-Length: 0\r\n\r\n".utf8))])
        #expect(
            try ToolRun(["fetch", "-i", server.url("/")]).text
                == "HTTP/1.1 200 O\\x1b[2J\r\nX-A: \\x1b]0;x\\x07\tb\r\nX-B: \\x9bA\r\nX-C: \\u{9b}é\r\n"
                + "Content-Length: 0\r\n\r\n")
    }
}
