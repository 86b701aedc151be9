import ErrandTesting
import Foundation

/// A server and a folder with a `.http` file, for `errand batch` and `errand chain`.
struct HTTPFileRun {
    let server: ScriptedServer
    let folder: TemporaryFolder

    init() throws {
        server = try ScriptedServer()
        folder = try TemporaryFolder()
    }

    static func answer(_ status: String = "200 OK", _ body: String = "", headers: String = "") -> ScriptedServer.Step {
        .send("HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: folder.file(name))
    }

    /// `HOST` in the file is the server's address.
    func run(
        _ subcommand: String, _ text: String, _ arguments: [String] = [], interruptWhen isUnderWay: (() -> Bool)? = nil
    ) throws -> ToolRun {
        try write("a.http", text.replacing("HOST", with: "http://127.0.0.1:\(server.port)"))
        return try ToolRun([subcommand, folder.file("a.http").path] + arguments, interruptWhen: isUnderWay)
    }
}

extension ToolRun {
    /// The output as a JSON array of objects.
    func jsonArray() throws -> [[String: Any]] {
        try JSONSerialization.jsonObject(with: output) as? [[String: Any]] ?? []
    }

    /// The cells of the table's rows, without its head and sum.
    var rows: [[String]] {
        text.split(separator: "\n").dropFirst().dropLast().map { $0.split(separator: " ").map(String.init) }
    }
}
