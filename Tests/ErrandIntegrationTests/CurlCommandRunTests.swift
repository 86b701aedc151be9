import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// What the engine sends and what a shell sends that is given the printed command, side by side.
@Suite struct CurlCommandRunTests {
    private struct Odd: Command {
        var method = HTTPRequest.Method.get
        var path = "x"
        var query: [QueryItem] = []
        var headers = HTTPFields()
        var body = RequestBody.empty
        var connection: ConnectionOptions?
        var options: CommandOptions = .freshConnection
        typealias Response = Errand.Response
    }

    private struct ShellFailed: Error {
        let status: Int32
        let errors: String
    }

    /// Runs `command` by /bin/sh with `input`, on a thread of its own; what it prints is dropped.
    private func shell(_ command: String, input: URL? = nil, in folder: URL) async throws {
        let output = folder.appendingPathComponent("output-\(UUID().uuidString)")
        try Data().write(to: output)
        defer { try? FileManager.default.removeItem(at: output) }
        // Neither may change what is sent.
        let environment = ["PATH": "/usr/bin:/bin", "http_proxy": "http://127.0.0.1:1", "LC_ALL": "C"]
        let run = try ProgramRun(
            "/bin/sh", ["-c", "cd \"$0\" || exit 1\n" + command, folder.path], environment: environment,
            input: input?.path ?? "/dev/null", output: output.path)
        let status = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: run.wait(seconds: 240)) }
        }
        if status == nil { run.kill() }
        guard status == 0 else {
            let errors = String(decoding: try Data(contentsOf: output), as: UTF8.self)
            throw ShellFailed(status: status ?? -1, errors: errors)
        }
    }

    private func compare(_ commands: [Odd], configuration: Client.Configuration? = nil) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-curl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try ScriptedServer()
        try server.on(
            nil, [.readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close])
        var configuration = configuration ?? Client.Configuration.patient()
        configuration.baseURL = server.url("/base/")
        configuration.loops = 1
        try await Client.with(Client(configuration: configuration)) { client in
            for command in commands {
                let printed = try client.curlCommand(for: command, redaction: .none)
                let before = server.requests.count
                _ = try await client.run(command)
                try await shell(printed, in: folder)
                let seen = Array(server.requests[before...])
                try #require(seen.count == 2, "\(printed)")
                #expect(lines(seen[0]) == lines(seen[1]), "\(printed)")
                #expect(seen[0].body == seen[1].body, "\(printed)")
                #expect(seen[0].bodyLength == seen[1].bodyLength && seen[1].isBodyComplete, "\(printed)")
            }
        }
    }

    /// The request line, then the fields in an order that does not depend on who sent them.
    private func lines(_ request: ScriptedServer.RecordedRequest) -> [String] {
        let lines = request.head.components(separatedBy: "\r\n").filter { !$0.isEmpty }
        return Array(lines.prefix(1)) + lines.dropFirst().sorted()
    }

    @Test func methods() async throws {
        let names = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "A!#$%&'*+-.^_`|~"]
        try await compare(try names.map { Odd(method: try #require(HTTPRequest.Method(rawValue: $0))) })
    }

    @Test func urls() async throws {
        try await compare([
            Odd(path: "a b/ü/%41/%2e%2e/c"), Odd(path: "[1]/{a,b}/{1..3}?[]={}"), Odd(path: ".hidden/..x/...?a=../b"),
            Odd(path: "it's\"$HOME`id`\\!*;&|<>(){}"), Odd(path: "?a=b"), Odd(path: "x#fragment"),
            Odd(query: [QueryItem("a'b", "c d&e=f"), QueryItem("\n", "\0")]),
        ])
    }

    @Test func headers() async throws {
        let odd: [(String, [UInt8])] = [
            ("X-Empty", []), ("X-Quotes", Array(#"'"`$HOME\ !"#.utf8)), ("X-Tab", Array("a\tb".utf8)),
            ("X-Latin", [0x61, 0xE9, 0x62]), ("X-UTF8", Array("日本".utf8)), ("X-At", Array("@file".utf8)),
            ("X-Semi", Array(";".utf8)), ("X-Percent", Array("%s%n\\n".utf8)), ("!#$%&'*+.^_`|~", Array("x".utf8)),
        ]
        let fields = try odd.map { HTTPField(name: try #require(.init($0.0)), lenientValue: $0.1) }
        try await compare([
            Odd(headers: HTTPFields(fields)), Odd(headers: [.userAgent: "mine", .accept: "a/b"]),
            Odd(method: .post, headers: [.contentLength: "1", .contentType: "a/b"], body: .string("x")),
            Odd(headers: [.authorization: "Basic eDp5", .cookie: "a=b; c=d"]),
        ])
    }

    @Test func bodies() async throws {
        let texts = [
            "", "x", "@x", "-", "a'b\"c$d`e\\f", "two\nlines\n", "\n", "tab\tç日本\n\n", #"{"a":"\u0000"}"#, "%s\\n'",
        ]
        let all = (0...255).map { UInt8($0) }
        let binary: [[UInt8]] = [all, [0], [0x2D, 0x00], [0xFF, 0xFE], [0x0D, 0x0A, 0x1B], all + all.reversed()]
        try await compare(
            texts.map { Odd(method: .post, body: .string($0)) }
                + binary.map { Odd(method: .put, body: .bytes($0)) }
                + [
                    Odd(method: .post, body: .bytes([1, 2], contentType: nil)),
                    Odd(method: .post, body: .bytes(Array("text".utf8), contentType: nil)),
                    Odd(method: .post, body: .json(["it's": "a\"b"])), Odd(method: .post, body: .form(["a b": "c&d"])),
                    Odd(method: .get, body: .string("get")), Odd(method: .delete, body: .string("delete")),
                    Odd(method: .post, body: .file(#filePath)),
                    Odd(method: .put, path: "folder/", body: .file(#filePath)),
                    Odd(method: .post, body: .file(#filePath, offset: 10, length: 100)),
                    Odd(method: .post, body: .file(#filePath, offset: 7)),
                ])
    }

    /// Above 1 MB curl asks for 100-continue by itself, the engine does not.
    @Test func largeBodies() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-large-\(UUID().uuidString)")
        try Data(repeating: 7, count: 1_500_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await compare([Odd(method: .post, body: .file(file.path))])
    }

    @Test func randomBodies() async throws {
        var generator = SystemRandomNumberGenerator()
        try await compare(
            (0..<20).map { size in
                let bytes = (0..<(size * size)).map { _ in UInt8.random(in: 0...255, using: &generator) }
                return Odd(method: .post, body: .bytes(bytes))
            })
    }

    @Test func optionsOfTheConnection() async throws {
        try await compare([
            Odd(connection: .init(encodings: [.gzip])), Odd(connection: .init(encodings: [.gzip, .deflate])),
            Odd(headers: [.acceptEncoding: "gzip"], connection: .init(encodings: [.gzip, .deflate])),
            Odd(connection: .init(httpVersion: .http1, localInterface: "127.0.0.1", tcpKeepaliveSeconds: 7)),
        ])
    }

    @Test func throughAProxyAndByAnotherAddress() async throws {
        let proxy = try ScriptedServer()
        try proxy.on(
            nil, [.readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close])
        let connection = ConnectionOptions(proxy: .url("http://u:p%27w@127.0.0.1:\(proxy.port)", bypass: ["127.0.0.1"]))
        let resolve = ConnectionOptions(resolveOverrides: ["named.test:\(proxy.port):127.0.0.1"])
        let folder = FileManager.default.temporaryDirectory
        try await Client.with(Client(configuration: .patient(loops: 1))) { client in
            for command in [
                Odd(path: "http://far.test/a", connection: connection),
                Odd(path: "http://named.test:\(proxy.port)/b", connection: resolve),
            ] {
                let before = proxy.requests.count
                _ = try await client.run(command)
                try await shell(try client.curlCommand(for: command, redaction: .none), in: folder)
                let seen = Array(proxy.requests[before...])
                #expect(seen.count == 2 && lines(seen[0]) == lines(seen[1]))
            }
        }
    }

    @Test func overTLS() async throws {
        let server = try Nginx.shared.get()
        let folder = FileManager.default.temporaryDirectory
        let authority = server.certificateAuthorityPath
        try await Client.with(Client(configuration: .patient(loops: 1))) { client in
            let trusted = Odd(
                path: server.url("/12b", port: .tls),
                connection: .init(tls: .init(caFile: authority, minimumVersion: .v1_3)))
            try await shell(try client.curlCommand(for: trusted) + " -f", in: folder)
            let identified = Odd(
                path: server.url("/12b", port: .clientCertificate),
                connection: .init(
                    tls: .init(
                        caFile: authority, clientCertificate: server.certificate("client.pem"),
                        clientKey: server.certificate("client.key"))))
            try await shell(try client.curlCommand(for: identified) + " -f", in: folder)
            let untrusted = Odd(path: server.url("/12b", port: .tls))
            await #expect(throws: ShellFailed.self) {
                try await shell(try client.curlCommand(for: untrusted) + " -f", in: folder)
            }
        }
    }

    /// curl would send PUT for a streamed body.
    @Test func aStreamKeepsItsMethod() async throws {
        let server = try ScriptedServer()
        try server.on(
            nil, [.readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close])
        let file = URL(fileURLWithPath: #filePath)
        let whole = Array(try Data(contentsOf: file))
        try await Client.with(Client(configuration: .patient(baseURL: server.url("/"), loops: 1))) { client in
            for method in [HTTPRequest.Method.post, .put, .patch] {
                let (values, upload) = AsyncStream.makeStream(of: [UInt8].self)
                upload.yield(whole)
                upload.finish()
                let command = Odd(method: method, body: .stream(values))
                let printed = try client.curlCommand(for: command, redaction: .none)
                let before = server.requests.count
                _ = try await client.run(command)
                try await shell(printed, input: file, in: FileManager.default.temporaryDirectory)
                let seen = Array(server.requests[before...])
                try #require(seen.count == 2, "\(printed)")
                #expect(lines(seen[0]) == lines(seen[1]), "\(printed)")
                #expect(seen[0].body == whole && seen[1].body == whole, "\(printed)")
            }
        }
    }

    @Test func aBodyThatIsLeftOutIsReadFromStandardInput() async throws {
        let server = try ScriptedServer()
        try server.on(
            nil, [.readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close])
        try await Client.with(Client(configuration: .patient(baseURL: server.url("/"), loops: 1))) { client in
            let description = try client.describe(Odd(method: .post, body: .file(#filePath)))
            let whole = try Data(contentsOf: URL(fileURLWithPath: #filePath))
            var bytes = description
            bytes.body = .data(whole)
            let command = CurlCommand(bytes, bodyLimit: 10).description
            try await shell(command, input: URL(fileURLWithPath: #filePath), in: FileManager.default.temporaryDirectory)
            #expect(server.requests.last?.body == Array(whole))
        }
    }
}
