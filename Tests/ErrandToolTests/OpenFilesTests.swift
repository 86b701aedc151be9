import ErrandTesting
import Foundation
import Testing

/// The tool and the limit of open files.
@Suite struct OpenFilesTests {
    /// `errand fetch` after `limits` in a shell.
    private func fetch(_ url: String, _ limits: String) throws -> (status: Int32, errors: String) {
        let folder = try TemporaryFolder()
        let errors = folder.file("errors")
        try Data().write(to: errors)
        let run = try ProgramRun(
            "/bin/sh", ["-c", "\(limits); exec \"$0\" \"$@\"", ToolRun.executable.path, "fetch", url],
            input: "/dev/null", output: "/dev/null", errors: errors.path)
        guard let status = run.end() else { throw ToolRun.Stuck(arguments: [limits, url]) }
        return (status, String(decoding: try Data(contentsOf: errors), as: UTF8.self))
    }

    private func server() throws -> ScriptedServer {
        let server = try ScriptedServer()
        try server.on("/", [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        return server
    }

    @Test func theSoftLimitIsRaised() throws {
        let server = try server()
        let run = try fetch(server.url("/"), "ulimit -S -n 14")
        #expect(run.status == 0, "\(run.errors)")
    }

    /// Whatever it is that finds no descriptor, the engine's start or a connection: exit code 71, and never 11, which
    /// speaks of the server.
    @Test func theHardLimitIsNamed() throws {
        let server = try server()
        var named = 0
        for limit in 12...24 {
            let run = try fetch(server.url("/"), "ulimit -n \(limit)")
            #expect(run.status == 0 || run.status == 71, "\(limit): \(run.errors)")
            if run.errors.contains("outOfDescriptors"),
                run.errors.contains("\(limit) file descriptors that this process may have")
            {
                named += 1
            }
        }
        #expect(named > 0)
    }
}
