import ErrandLoad
import ErrandTesting
import Foundation

/// A server, and runs of `errand bench` whose results are read back.
struct LoadToolRun {
    static let ok = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    static let broken = ScriptedServer.Step.send("HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n")

    let server: ScriptedServer
    let folder: TemporaryFolder

    /// `steps`: what the server does for each request.
    init(_ steps: [ScriptedServer.Step] = [.readBody, LoadToolRun.ok]) throws {
        server = try ScriptedServer()
        folder = try TemporaryFolder()
        try server.on(nil, steps)
    }

    func path(_ name: String) -> String { folder.file(name).path }

    /// `HOST` in the text is the server's address.
    func write(_ name: String, _ text: String) throws {
        try Data(text.replacing("HOST", with: "http://127.0.0.1:\(server.port)").utf8).write(to: folder.file(name))
    }

    /// Runs `errand bench` with `--output`.
    func run(
        _ arguments: [String], to name: String = "result.json", interruptWhen isUnderWay: (() -> Bool)? = nil,
        seconds: Double = 300
    ) throws -> (tool: ToolRun, result: LoadResult) {
        let tool = try ToolRun(
            ["bench", "-o", path(name), "--no-progress"] + arguments, interruptWhen: isUnderWay, seconds: seconds)
        return (tool, try result(name))
    }

    /// Runs it again where the machine was so late that the last arrivals of the run were not sent. Returns the requests
    /// that the server got, too.
    func runSendingAll(
        _ arguments: [String], isComplete: (LoadResult) -> Bool = { $0.total.counts.neverSent == 0 }
    ) throws -> (tool: ToolRun, result: LoadResult, requests: [ScriptedServer.RecordedRequest]) {
        for _ in 0..<20 {
            let before = server.counts.requests
            let (tool, result) = try run(arguments)
            if isComplete(result) { return (tool, result, Array(server.requests.dropFirst(before))) }
        }
        throw ToolRun.Stuck(arguments: arguments, what: "send all that was due")
    }

    func result(_ name: String) throws -> LoadResult {
        try LoadResult(json: Data(contentsOf: folder.file(name)))
    }
}
