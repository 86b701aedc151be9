import ErrandTesting
import Foundation
import Testing

/// `errand batch` against a server, and what both subcommands refuse.
@Suite struct BatchRunTests {
    @Test func runsAllTogether() throws {
        let run = try HTTPFileRun()
        for (number, delay) in [400, 200, 0].enumerated() {
            try run.server.on(
                "/\(number)", [.stall, .sleep(milliseconds: delay), HTTPFileRun.answer("200 OK", "\(number)")])
        }
        // Not before all have come: one that is answered by then would leave its connection to the next.
        run.server.release(afterRequests: 3)
        let text = "@id = {{$uuid}}\n" + (0..<3).map { "GET HOST/\($0)\nX-Id: {{id}}\n###\n" }.joined()
        let together = try run.run("batch", text)
        #expect(together.status == 0 && together.rows.map { $0[0] } == ["#1", "#2", "#3"], "\(together.errors)")
        #expect(together.text.hasSuffix("3 requests: 3 ok, 0 failed\n"))
        #expect(run.server.counts.connections == 3)
        #expect(Set(run.server.requests.flatMap { $0.values(of: "x-id") }).count == 1)
        #expect(try run.run("batch", text, ["--max-concurrent", "1"]).status == 0)
        // One at a time needs one connection, and keeps the order.
        #expect(run.server.counts.connections == 4)
        #expect(run.server.requests.suffix(3).map(\.target) == ["/0", "/1", "/2"])
    }

    @Test func runsMany() throws {
        let nginx = try NginxServer()
        let folder = try TemporaryFolder()
        let text = (0..<2000).map { "### \($0)\nGET {{host}}/\($0 == 700 ? "status/503" : "12b")\n" }.joined()
        try Data(text.utf8).write(to: folder.file("many.http"))
        let run = try ToolRun([
            "batch", folder.file("many.http").path, "--variable", "host=\(nginx.url(""))", "--json",
        ])
        let json = try run.jsonArray()
        #expect(run.status == 22)
        #expect(json.map { $0["name"] as? String } == (0..<2000).map(String.init))
        #expect(json.enumerated().allSatisfy { $1["status"] as? Int == ($0 == 700 ? 503 : 200) })
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test func collectsOrStops() throws {
        let run = try HTTPFileRun()
        try run.server.on("/bad", [.sleep(milliseconds: 300), HTTPFileRun.answer("500 No", "why")])
        try run.server.on("/slow", [.stall])
        try run.server.on(nil, [HTTPFileRun.answer()])
        let text = ["slow", "bad", "good", "good"].map { "GET HOST/\($0)\n###\n" }.joined()
        let failFast = try run.run("batch", text, ["--policy", "fail-fast", "--max-concurrent", "2", "--json"])
        let json = try failFast.jsonArray()
        #expect(failFast.status == 22)
        let kinds = json.map { ($0["error"] as? [String: Any])?["kind"] as? String }
        #expect(kinds == ["cancelled", "statusNotAccepted", "notRun", "notRun"])
        #expect(json[1]["status"] as? Int == 500 && json[1]["bytes"] as? Int == 3)

        let collect = try run.run("batch", "# @timeout 500 ms\n" + text, ["--json"])
        #expect(try collect.jsonArray().map { $0["status"] as? Int } == [nil, 500, 200, 200])
        // The first in the file's order counts, not the first in time.
        #expect(collect.status == 13)
    }

    @Test func stopsWhenInterrupted() throws {
        let run = try HTTPFileRun()
        try run.server.on("/a", [HTTPFileRun.answer()])
        try run.server.on(nil, [.stall])
        // Two at a time: the third has come, so the first has ended.
        let batch = try run.run(
            "batch", "GET HOST/a\n###\nGET HOST/b\n###\nGET HOST/c", ["--max-concurrent", "2"],
            interruptWhen: { run.server.counts.requests == 3 })
        #expect(batch.status == 130)
        #expect(batch.rows.map { $0[5] } == ["ok", "cancelled", "cancelled"])
    }

    @Test func speaksTLS() throws {
        let nginx = try NginxServer()
        let folder = try TemporaryFolder()
        let file = folder.file("a.http")
        let url = nginx.url("/12b", port: .tls, host: "localhost")
        try Data("GET \(url)\n###\nGET \(url) HTTP/2\n".utf8).write(to: file)
        #expect(try ToolRun(["batch", file.path]).status == 12)
        #expect(try ToolRun(["batch", file.path, "--insecure"]).status == 0)
        #expect(try ToolRun(["batch", file.path, "--cacert", nginx.certificateAuthorityPath]).status == 0)
    }

    struct Bad: CustomTestStringConvertible, Sendable {
        let status: Int32
        let message: String
        let text: String
        var arguments: [String] = []
        var subcommands = ["batch", "chain"]

        var testDescription: String { "\(text.debugDescription) \(arguments.joined(separator: " "))" }
    }

    static let login = "# @name login\nGET HOST/\n###\n"

    @Test(arguments: [
        Bad(status: 65, message: "a.http: the file has no request", text: ""),
        Bad(status: 65, message: "a.http:2:1: the line is not a header field", text: "GET HOST/\nnonsense"),
        Bad(status: 65, message: "a.http:1:5: the variable 'b' is not defined", text: "GET {{b}}"),
        Bad(
            status: 65, message: "a.http:4:10: the variable refers to the response of 'login'",
            text: login + "GET a.te/{{login.response.body.*}}", subcommands: ["batch"]),
        Bad(
            status: 65, message: "a.http:5:6: no request is named 'nobody'",
            text: login + "GET HOST/\nX-A: {{nobody.response.body.*}}"),
        Bad(
            status: 65, message: "a.http:1:7: the variable refers to 'login', which is not an earlier request",
            text: "a.te/?{{login.response.body.*}}\n###\n" + login, subcommands: ["chain"]),
        Bad(
            status: 65, message: "a.http:2:11: the variable refers to 'a', which is not an earlier request",
            text: "# @name a\nGET a.te/?{{a.request.headers.X}}", subcommands: ["chain"]),
        Bad(status: 65, message: "a.http:3:1: '", text: "POST HOST/\n\n<@ /proc/self/exe"),
        Bad(
            status: 66, message: "a.http:3:1: cannot read '/nonexistent/a': no such file",
            text: "POST HOST/\n\n<@ /nonexistent/a"),
        Bad(
            status: 66, message: "a.http:3:1: cannot read '/nonexistent/a': no such file",
            text: "POST HOST/\n\n< /nonexistent/a",
            subcommands: ["batch"]),
        Bad(
            status: 65, message: "a.http:2:1: the value of 'X' contains a CR", text: "GET HOST/\nX: {{b}}",
            arguments: ["--variable", "b=\r\nY: z"]),
        Bad(
            status: 65, message: "a.http:2:1: 'AWS' authorization is not supported",
            text: "GET HOST/\nAuthorization: AWS a b", subcommands: ["batch"]),
        Bad(
            status: 65, message: "a.http:4:1: the form has a space beside",
            text: "POST HOST/\nContent-Type: application/x-www-form-urlencoded\n\na = b", subcommands: ["batch"]),
        Bad(status: 64, message: "is invalid for '--variable", text: "GET HOST/", arguments: ["--variable", "a"]),
        Bad(
            status: 64, message: "expected 1 to 10,000", text: "GET HOST/",
            arguments: ["--max-concurrent", "0"], subcommands: ["batch"]),
        Bad(
            status: 64, message: "is invalid for '--policy", text: "GET HOST/", arguments: ["--policy", "x"],
            subcommands: ["batch"]),
        Bad(
            status: 66, message: "has no http-client.env.json", text: "GET HOST/",
            arguments: ["--env", "dev"]),
        Bad(
            status: 66, message: "cannot read '/nonexistent/a'", text: "GET HOST/",
            arguments: ["--env-file", "/nonexistent/a"]),
        Bad(
            status: 65, message: "/dev/null: the file is not an object", text: "GET HOST/",
            arguments: ["--env-file", "/dev/null"]),
    ]) func isRefused(_ example: Bad) throws {
        for subcommand in example.subcommands {
            let run = try HTTPFileRun()
            try run.server.on(nil, [.echo])
            let tool = try run.run(subcommand, example.text, example.arguments)
            #expect(tool.status == example.status, "\(subcommand): \(tool.errors)")
            #expect((tool.errors + tool.text).contains(example.message), "\(subcommand): \(tool.errors)")
            // Nothing is sent.
            #expect(run.server.counts.connections == 0)
        }
    }

    @Test func saysThatThereIsNoFile() throws {
        let run = try ToolRun(["batch", "/nonexistent/a.http"])
        #expect(run.status == 66 && run.errors == "errand: cannot read '/nonexistent/a.http': no such file\n")
    }
}
