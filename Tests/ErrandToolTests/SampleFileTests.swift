import ErrandTesting
import Foundation
import Testing

/// Twelve files in the style of public ones, run as they are against a server on loopback.
@Suite struct SampleFileTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Samples")

    struct Sample: Sendable, CustomTestStringConvertible {
        let file: String
        var status: Int32 = 0
        /// Each with `METHOD target`.
        var requests: [String] = []
        /// Of standard error, each a part of a line, with the place in the file.
        var messages: [String] = []
        var arguments: [String] = []

        var testDescription: String { "\(file) \(arguments.joined(separator: " "))" }
    }

    static let samples = [
        Sample(
            file: "01-repositories.http",
            requests: [
                "GET /orgs/octo/repos?per_page=2&sort=updated", "GET /repos/octo/engine",
                "GET /repos/octo/engine/issues/1",
            ]),
        Sample(
            file: "02-login-chain.http", requests: ["POST /login", "POST /articles", "DELETE /articles/7"],
            arguments: ["--variable", "password=x"]),
        Sample(
            file: "02-login-chain.http", status: 65, messages: ["13:18: the variable 'password' is not defined"]),
        Sample(
            file: "03-response-handlers.http", status: 65,
            messages: [
                "warning: FILE:9:1: the response handler script ('> {%') is skipped: scripts are not supported",
                "warning: FILE:17:1: the script before the request ('< {%') is skipped: scripts are not supported",
                "warning: FILE:23:1: the response handler script ('> ./check.js') is skipped: scripts are not supported",
                "errand: FILE:21:23: the variable 'token' is not defined",
            ]),
        Sample(
            file: "03-response-handlers.http", requests: ["POST /login", "GET /articles"],
            messages: [
                "FILE:9:1: the response handler script", "FILE:17:1: the script before",
                "FILE:23:1: the response handler",
            ],
            arguments: ["--variable", "token=t"]),
        Sample(file: "04-upload.http", requests: ["POST /upload", "PUT /notes.txt", "PUT /notes.txt"]),
        Sample(file: "05-graphql.http", status: 65, messages: ["FILE:4:1: GraphQL requests are not supported"]),
        Sample(
            file: "06-environments.http", requests: ["GET /health", "GET /users/ada?debug=false"],
            arguments: ["--env", "local"]),
        Sample(
            file: "06-environments.http", status: 64,
            messages: ["--env: the environment 'production' does not exist; available: local, staging"],
            arguments: ["--env", "production"]),
        Sample(file: "07-prompt.http", status: 65, messages: ["FILE:4:3: '@prompt' is not supported"]),
        Sample(
            file: "08-form-and-cookies.http",
            requests: ["POST /session", "GET /home", "GET /home", "GET /home"]),
        Sample(file: "09-dynamic-values.http", requests: ["PUT /events/ID"]),
        Sample(
            file: "10-assertions.http", status: 23, requests: ["GET /health", "GET /gone", "GET /health"],
            messages: ["errand: Down, which is told: expected body.status == down (line 20), got 'up'"]),
        Sample(
            file: "11-saved-response.http", status: 65,
            messages: ["FILE:5:1: saving a response ('>>') is not supported"]),
        Sample(file: "12-websocket.rest", status: 65, messages: ["FILE:2:1: WEBSOCKET requests are not supported"]),
    ]

    private static func server() throws -> ScriptedServer {
        let server = try ScriptedServer()
        let json = "Content-Type: application/json\r\n"
        func answer(_ body: String, _ status: String = "200 OK", headers: String = "") -> [ScriptedServer.Step] {
            [.readBody, HTTPFileRun.answer(status, body, headers: json + headers)]
        }
        try server.on(
            "/orgs/octo/repos", answer(#"[{"name": "engine"}, {"name": "loom"}]"#, headers: "ETag: \"a1\"\r\n"))
        try server.on("/login", answer(#"{"access_token": "t"}"#))
        try server.on("/articles", answer(#"{"id": 7}"#, "201 Created"))
        try server.on("/health", answer(#"{"status": "up", "checks": [{"name": "disk"}]}"#))
        try server.on("/gone", answer("{}", "410 Gone"))
        try server.on("/session", answer("", "303 See Other", headers: "Location: /home\r\nSet-Cookie: id=5\r\n"))
        try server.on(nil, [.readBody, .echo])
        return server
    }

    @Test(arguments: samples) func runs(_ sample: Sample) throws {
        let server = try SampleFileTests.server()
        let path = SampleFileTests.folder.appendingPathComponent(sample.file).path
        let tool = try ToolRun(
            ["chain", "--keep-going", path, "--variable", "host=http://127.0.0.1:\(server.port)"] + sample.arguments)
        #expect(tool.status == sample.status, "\(tool.errors)")
        let requests = server.requests.map { request in
            "\(request.method) \(request.target.replacing(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, with: "ID"))"
        }
        #expect(requests == sample.requests)
        let lines = tool.errors.replacing(path, with: "FILE").split(separator: "\n")
        #expect(lines.count == sample.messages.count, "\(tool.errors)")
        for (line, message) in zip(lines, sample.messages) { #expect(line.contains(message)) }
    }

    @Test func sendsWhatTheFilesSay() throws {
        let server = try SampleFileTests.server()
        let names = ["02-login-chain.http", "04-upload.http", "08-form-and-cookies.http", "09-dynamic-values.http"]
        let tool = try ToolRun(
            ["chain"] + names.map { SampleFileTests.folder.appendingPathComponent($0).path }
                + ["--variable", "host=http://127.0.0.1:\(server.port)", "--variable", "password=x"])
        #expect(tool.status == 0, "\(tool.errors)")
        func request(_ path: String, _ number: Int = 0) throws -> ScriptedServer.RecordedRequest {
            try #require(server.requests.filter { $0.target.hasPrefix(path) }.dropFirst(number).first)
        }
        #expect(try request("/articles/7").values(of: "authorization") == ["Bearer t"])
        #expect(
            String(decoding: try request("/upload").body, as: UTF8.self).contains(
                "Content-Type: text/plain\r\n\r\nNotes by {{author}}\n\r\n--WebAppBoundary--"))
        #expect(try request("/notes.txt").body == Array("Notes by {{author}}\n".utf8))
        #expect(try request("/notes.txt", 1).body == Array("Notes by Ada\n".utf8))
        #expect(
            String(decoding: try request("/session").body, as: UTF8.self)
                == "name=Ada%20Lovelace&remember=on&next=%2Fhome")
        #expect(try (0..<3).map { try request("/home", $0).values(of: "cookie") } == [["id=5"], [], ["id=5"]])
        let event = try request("/events/")
        #expect(event.values(of: "x-api-key") == ["abc # 123"])
        #expect(try event.target == "/events/\(#require(event.values(of: "x-request-id").first))")
        let json = try #require(try JSONSerialization.jsonObject(with: Data(event.body)) as? [String: Any])
        #expect(json.count == 10 && (1..<7).contains(json["random"] as? Int ?? 0))
        #expect((json["rfc"] as? String ?? "").hasSuffix(" GMT"))
    }

    /// A file that is not in the list is run by nobody.
    @Test func allAreRun() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: SampleFileTests.folder.path)
            .filter { $0.hasSuffix(".http") || $0.hasSuffix(".rest") }
        #expect(files.count == 12 && Set(files) == Set(SampleFileTests.samples.map(\.file)))
    }
}
