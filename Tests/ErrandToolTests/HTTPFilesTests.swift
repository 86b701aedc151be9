import ErrandTesting
import Foundation
import Testing

/// `errand batch` and `errand chain` with several files and folders.
@Suite struct HTTPFilesTests {
    private let run: HTTPFileRun

    init() throws {
        run = try HTTPFileRun()
        try run.server.on("/missing", [HTTPFileRun.answer("404 Not Found")])
        try run.server.on("/login", [HTTPFileRun.answer("200 OK", #"{"token": "t"}"#, headers: "Set-Cookie: a=b\r\n")])
        try run.server.on(nil, [.echo])
    }

    private func write(_ path: String, _ text: String) throws {
        let file = run.folder.file(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try run.write(path, text.replacing("HOST", with: "http://127.0.0.1:\(run.server.port)"))
    }

    private func path(_ name: String) -> String { run.folder.file(name).path }

    @Test(arguments: ["batch", "chain"]) func runsTheFilesOfFolders(_ subcommand: String) throws {
        try write("suite/b.http", "GET HOST/b1\n###\n# @name second\nGET HOST/b2")
        try write("suite/a.rest", "GET HOST/a")
        try write("suite/a/deep/z.HTTP", "GET HOST/z")
        try write("suite/.hidden/h.http", "GET HOST/hidden")
        try write("suite/notes.txt", "no requests")
        try write("suite/variables.http", "@a = b")
        try write("last.http", "GET HOST/last")
        try FileManager.default.createSymbolicLink(
            at: run.folder.file("suite/circle"), withDestinationURL: run.folder.file("suite"))
        let tool = try ToolRun(
            [
                subcommand, path("suite") + "/", path("last.http"), "--json",
            ] + (subcommand == "batch" ? ["--max-concurrent", "1"] : []))
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(run.server.requests.map(\.target) == ["/z", "/a", "/b1", "/b2", "/last"])
        let json = try tool.jsonArray()
        #expect(
            json.map { $0["file"] as? String }
                == ["suite/a/deep/z.HTTP", "suite/a.rest", "suite/b.http", "suite/b.http", "last.http"].map(path))
        #expect(json.map { $0["name"] as? String } == ["#1", "#1", "#1", "second", "#1"])
        #expect(tool.errors == "errand: warning: \(path("suite/variables.http")): the file has no request\n")
    }

    @Test func namesTheFilesInTheTable() throws {
        try write("a.http", "# @name same\nGET HOST/a")
        try write("b.http", "# @name same\nGET HOST/missing")
        let tool = try ToolRun(["batch", path("a.http"), path("b.http")])
        #expect(tool.status == 22)
        #expect(
            tool.rows.map { Array($0[..<4]) } == [
                [path("a.http"), "same", "GET", "200"], [path("b.http"), "same", "GET", "404"],
            ])
        #expect(tool.errors.hasPrefix("errand: \(path("b.http")): same: statusNotAccepted"), "\(tool.errors)")
    }

    @Test func keepsNamesAndVariablesWithinAFile() throws {
        try write(
            "a.http", "@v = 1\n@id = {{$uuid}}\n# @name login\nGET HOST/login\n###\nGET HOST/{{v}}\nX-Id: {{id}}\n")
        try write("b.http", "@v = 2\n# @name login\nGET HOST/login\n###\nGET HOST/{{v}}{{login.response.body.token}}\n")
        let both = try ToolRun(["chain", path("a.http"), path("b.http")])
        #expect(both.status == 0, "\(both.errors)")
        #expect(run.server.requests.map(\.target) == ["/login", "/1", "/login", "/2t"])
        // Cookies are kept for the run.
        #expect(run.server.requests.map { $0.values(of: "cookie") } == [[], ["a=b"], ["a=b"], ["a=b"]])

        try write("c.http", "GET HOST/{{login.response.body.token}}")
        let other = try ToolRun(["chain", path("a.http"), path("c.http")])
        #expect(other.status == 65)
        #expect(
            other.errors.hasPrefix("errand: \(path("c.http")):1:\(run.server.url("").count + 6): no request is named"),
            "\(other.errors)")
        try write("d.http", "# @name x\nGET HOST/\n###\n# @name x\nGET HOST/")
        #expect(try ToolRun(["chain", path("a.http"), path("d.http")]).status == 65)
        // Nothing was sent for either.
        #expect(run.server.counts.requests == 4)
    }

    @Test func choosesAcrossFiles() throws {
        try write("a.http", "GET HOST/a1\n### Two\nGET HOST/a2\n###\n# @name three\nGET HOST/a3")
        try write("b.http", "GET HOST/b1\n### Two\nGET HOST/b2")
        let files = [path("a.http"), path("b.http")]
        #expect(try ToolRun(["chain"] + files + ["--only", "Two", "--only", "three"]).status == 0)
        #expect(try ToolRun(["chain"] + files + ["--only", "#1"]).status == 0)
        #expect(run.server.requests.map(\.target) == ["/a2", "/a3", "/b2", "/a1", "/b1"])
        let unknown = try ToolRun(["chain"] + files + ["--only", "four"])
        #expect(unknown.status == 64 && unknown.errors.contains("no request is named 'four' in these 2 files"))
    }

    @Test func takesTheNearestEnvironment() throws {
        try write("suite/http-client.env.json", #"{"dev": {"v": "above"}}"#)
        try write("suite/a.http", "GET HOST/{{v}}")
        try write("suite/x/y/b.http", "GET HOST/{{v}}")
        try write("suite/z/c.http", "GET HOST/{{v}}")
        try write("suite/z/http-client.private.env.json", #"{"dev": {"v": "near"}}"#)
        let tool = try ToolRun(["chain", path("suite"), "--env", "dev"])
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(run.server.requests.map(\.target) == ["/above", "/above", "/near"])
        // Named by itself, no folder above it is looked at.
        #expect(try ToolRun(["chain", path("suite/x/y/b.http"), "--env", "dev"]).status == 66)
    }

    @Test func refusesWhatIsNoFile() throws {
        try write("empty/notes.txt", "")
        try write("a.http", "GET HOST/")
        let empty = try ToolRun(["batch", path("a.http"), path("empty")])
        #expect(empty.status == 66 && empty.errors.contains("empty': the folder has no .http or .rest file"))
        #expect(try ToolRun(["batch", path("a.http"), path("nothing.http")]).status == 66)
        let twice = try ToolRun(["batch", "-", "-"])
        #expect(twice.status == 64 && twice.errors.contains("(standard input) is given twice"))
        #expect(run.server.counts.requests == 0)
    }
}
