import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

private struct Ask: Command {
    var path: String
    var method = HTTPRequest.Method.post
    var parameters: Parameters?
    var parameterEncoding = ParameterEncoding.automatic
    var body = RequestBody.empty
    var authorization: Authorization?
    var connection: ConnectionOptions?
    var customRequest: CustomRequest?
    typealias Response = Errand.Response
}

/// What commands say, as servers see it.
@Suite struct BuildingTests {
    /// Runs `commands` against a server that answers everything, and returns what it saw, in order.
    private func seen(
        _ commands: [Ask], _ change: (inout Client.Settings) -> Void = { _ in }
    ) async throws -> [ScriptedServer.RecordedRequest] {
        let server = try ScriptedServer()
        try server.on(nil, [.readBody, .echo])
        var configuration = Client.Configuration.patient(baseURL: server.url("/"))
        change(&configuration.settings)
        return try await Client.with(Client(configuration: configuration)) { client in
            for command in commands { _ = try await client.run(command) }
            return server.requests
        }
    }

    @Test func multipartBodiesArriveWholeForAnyMethod() async throws {
        let file = [UInt8]((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        let methods: [HTTPRequest.Method] = [.post, .put, .patch, .delete, .get]
        let seen = try await seen(
            methods.map { method in
                Ask(
                    path: "upload", method: method, parameters: ["user": ["name": "ü"]], parameterEncoding: .form,
                    body: .multipart(
                        [.bytes(file, name: "file", fileName: "a\"b\r\n.png"), .string("\r\n--B", name: "tricky")],
                        boundary: "Boundary"))
            })
        #expect(seen.map(\.method) == methods.map(\.rawValue))
        let disposition = "Content-Disposition: form-data; name="
        var expected = Array("--Boundary\r\n\(disposition)\"user[name]\"\r\n\r\nü\r\n".utf8)
        expected += "--Boundary\r\n\(disposition)\"file\"; filename=\"a%22b%0D%0A.png\"\r\n".utf8
        expected += Array("Content-Type: image/png\r\n\r\n".utf8) + file + Array("\r\n".utf8)
        expected += "--Boundary\r\n\(disposition)\"tricky\"\r\n\r\n\r\n--B\r\n--Boundary--\r\n".utf8
        for request in seen {
            #expect(request.body == expected)
            #expect(request.values(of: "content-length") == ["\(expected.count)"])
            #expect(request.values(of: "content-type") == ["multipart/form-data; boundary=Boundary"])
            #expect(request.values(of: "transfer-encoding") == [])
        }
    }

    @Test func formsQueriesAndJSONOnTheWire() async throws {
        let parameters: Parameters = ["z": [1, true], "a": "x y/é"]
        let seen = try await seen([
            Ask(path: "form", parameters: parameters),
            Ask(path: "get", method: .get, parameters: parameters),
            Ask(path: "json", method: .delete, parameters: parameters, parameterEncoding: .json),
            Ask(path: "empty", parameters: [:]),
        ])
        let form = "a=x%20y/%C3%A9&z%5B%5D=1&z%5B%5D=1"
        #expect(
            seen.map { String(decoding: $0.body, as: UTF8.self) } == [form, "", #"{"z":[1,true],"a":"x y/é"}"#, ""])
        #expect(seen[0].values(of: "content-length") == ["\(form.utf8.count)"])
        #expect(seen[1].target == "/get?" + form && seen[1].values(of: "content-length") == [])
        #expect(seen[2].values(of: "content-type") == ["application/json"])
        #expect(seen[3].values(of: "content-type") == ["application/x-www-form-urlencoded"])
        #expect(seen[3].values(of: "content-length") == ["0"])
    }

    @Test func compressedBodiesAreUndoneByGzip() async throws {
        let text = String(repeating: "compress me, ", count: 10_000)
        let seen = try await seen([Ask(path: "gzip", body: .string(text).gzipped())])
        let request = try #require(seen.first)
        #expect(request.values(of: "content-encoding") == ["gzip"])
        #expect(request.values(of: "content-length") == ["\(request.bodyLength)"])
        #expect(request.bodyLength < text.utf8.count / 20)
        let path = NSTemporaryDirectory() + "errand-\(UUID().uuidString).gz"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(request.body).write(to: URL(filePath: path))
        // As gzip does with files: it takes the suffix away.
        let run = try ProgramRun("/bin/gzip", ["-dk", path])
        defer { try? FileManager.default.removeItem(atPath: String(path.dropLast(3))) }
        #expect(run.wait(seconds: 240) == 0)
        #expect(try Data(contentsOf: URL(filePath: String(path.dropLast(3)))) == Data(text.utf8))
    }

    @Test func headersOfTheSettings() async throws {
        let commands = [
            Ask(path: "1", method: .get),
            Ask(path: "2", method: .get, authorization: .basic(username: "ü", password: "p")),
            Ask(path: "3", method: .get, authorization: .anonymous),
        ]
        let seen = try await seen(commands) { settings in
            settings.authorization = .bearer("token")
            settings.languages = ["de-AT", "en"]
        }
        #expect(seen.map { $0.values(of: "authorization") } == [["Bearer token"], ["Basic w7w6cA=="], []])
        #expect(seen[0].values(of: "accept-language") == ["de-AT;q=1, en;q=0.9"])
    }

    /// The size is that of the first hop: what is shorter at the next must not pass for whole, what is longer is cut.
    @Test(arguments: [(500, nil), (1000, 1000), (2000, 1000)] as [(Int, Int?)])
    func aFileThatChangesBetweenHops(size: Int, sent: Int?) async throws {
        let path = FileManager.default.temporaryDirectory.path + "/errand-hop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(repeating: 1, count: 1000).write(to: URL(filePath: path))
        let server = try ScriptedServer()
        try server.on(
            "/one",
            [.readBody, .send("HTTP/1.1 307 Temporary Redirect\r\nLocation: /two\r\nContent-Length: 0\r\n\r\n")])
        try server.on("/two", [.readBody, .echo])
        var configuration = Client.Configuration.patient(baseURL: server.url("/"))
        configuration.redirects = .follow { hop in
            try? Data(repeating: 2, count: size).write(to: URL(filePath: path))
            return .follow(hop.proposal)
        }
        try await Client.with(Client(configuration: configuration)) { client in
            switch await client.result(of: Ask(path: "one", method: .put, body: .file(path))) {
            case .success: #expect(server.requests.map(\.bodyLength) == [1000, sent ?? -1])
            case .failure(let error):
                #expect(sent == nil && error == .invalidBody)
                #expect(error.message.contains("1000 bytes of \(path)"), "\(error)")
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func digestByCommand() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.digest(username: "ada", password: "pä"), .echo])
        try await Client.with(Client(configuration: .patient(baseURL: server.url("/")))) {
            client async throws -> Void in
            var ask = Ask(path: "x", parameters: ["a": 1], authorization: .digest(username: "ada", password: "pä"))
            #expect(try await client.run(ask).statusCode == 200)
            ask.authorization = .digest(username: "ada", password: "wrong")
            await #expect(throws: ErrandError.statusNotAccepted) { try await client.run(ask) }
        }
        #expect(server.requests.prefix(2).map(\.bodyLength) == [0, 3])
    }

    @Test func authorizationStaysWithItsOrigin() async throws {
        let other = try ScriptedServer()
        try other.on(nil, [.echo])
        let server = try ScriptedServer()
        let location = other.url("/there")
        try server.on(nil, [.send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")])
        let configuration = Client.Configuration.patient(baseURL: server.url("/"))
        try await Client.with(Client(configuration: configuration)) { client in
            _ = try await client.run(Ask(path: "x", method: .get, authorization: .bearer("secret")))
        }
        #expect(server.requests.map { $0.values(of: "authorization") } == [["Bearer secret"]])
        #expect(other.requests.map { $0.values(of: "authorization") } == [[]])
    }

    @Test func aCustomRequestIsSentAsItIs() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.readBody, .echo])
        var configuration = Client.Configuration.patient()
        configuration.headers = [.accept: "a/b"]
        configuration.authorization = .bearer("x")
        try await Client.with(Client(configuration: configuration)) { client in
            let custom = CustomRequest(
                method: .init("REPORT")!, url: server.url("/custom?a=b"), headers: [.cookie: "c=d"],
                body: .string("text"))
            _ = try await client.run(Ask(path: "ignored", parameters: ["p": 1], customRequest: custom))
        }
        let request = try #require(server.requests.first)
        #expect(request.method == "REPORT" && request.target == "/custom?a=b")
        #expect(request.values(of: "cookie") == ["c=d"] && request.values(of: "accept") != ["a/b"])
        #expect(request.values(of: "authorization") == [] && request.values(of: "user-agent") == [])
        #expect(String(decoding: request.body, as: UTF8.self) == "text")
    }

    /// An IDN host, by the engine's own mapping; DNS is replaced, `Host` is the A-label.
    @Test func internationalNames() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        let resolve = "xn--bcher-kva.test:\(server.port):127.0.0.1"
        var configuration = Client.Configuration.patient(baseURL: "http://bücher.test:\(server.port)/")
        configuration.connection.resolveOverrides = [resolve]
        try await Client.with(Client(configuration: configuration)) { client in
            _ = try await client.run(Ask(path: "搜索 1?词=😀", method: .get))
        }
        let request = try #require(server.requests.first)
        #expect(request.values(of: "host") == ["xn--bcher-kva.test:\(server.port)"])
        #expect(request.target == "/%E6%90%9C%E7%B4%A2%201?%E8%AF%8D=%F0%9F%98%80")
    }

    @Test func tlsPoliciesByHostAndAtRunTime() async throws {
        let nginx = try Nginx.shared.get()
        let pin = try String(contentsOfFile: nginx.certificate("valid.pin"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let wrong = String(repeating: "A", count: 43) + "="
        let authority = nginx.certificateAuthorityPath
        let client = try Nginx.client { configuration in
            configuration.tlsPolicies["localhost"] = .init(caFile: authority, pinnedKeys: [wrong, pin])
            configuration.tlsPolicies["127.0.0.1"] = .init(caFile: authority, pinnedKeys: [wrong])
        }
        let named = Ask(path: nginx.url("/12b", port: .tls, host: "localhost"), method: .get)
        let numbered = Ask(path: nginx.url("/12b", port: .tls), method: .get)
        let asking = Ask(path: nginx.url("/12b", port: .clientCertificate, host: "localhost"), method: .get)
        try await Client.with(client) { client async throws -> Void in
            #expect(try await client.run(named).statusCode == 200)
            #expect(try await client.run(named).metrics.isConnectionReused)
            await #expect(throws: ErrandError.tlsPinMismatch) { try await client.run(numbered) }
            client.reconfigure { $0.tlsPolicies["127.0.0.1"]?.pinnedKeys = [wrong, pin] }
            #expect(try await client.run(numbered).statusCode == 200)
            client.reconfigure { $0.tlsPolicies["localhost"]?.pinnedKeys = [wrong] }
            await #expect(throws: ErrandError.tlsPinMismatch) { try await client.run(named) }
            client.reconfigure { settings in
                settings.tlsPolicies["localhost"] = .init(
                    caFile: authority, clientCertificate: nginx.certificate("client.pem"),
                    clientKey: nginx.certificate("client.key"))
            }
            #expect(try await client.run(asking).statusCode == 200)
            client.reconfigure { $0.tlsPolicies = TLSPolicies(default: .init(caFile: authority)) }
            #expect(try await client.run(numbered).statusCode == 200)
            client.reconfigure { $0.tlsPolicies = TLSPolicies() }
            await #expect(throws: ErrandError.tlsUntrusted) { try await client.run(numbered) }
        }
    }

    /// The policy is that of the host which a redirect leads to, not of the one it comes from.
    @Test func aRedirectGoesByTheNextHostsPolicy() async throws {
        let nginx = try Nginx.shared.get()
        let server = try ScriptedServer()
        let location = nginx.url("/12b", port: .tls, host: "localhost")
        try server.on(nil, [.send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")])
        let authority = nginx.certificateAuthorityPath
        let client = try Nginx.client { $0.tlsPolicies["localhost"] = .init(caFile: authority) }
        let ask = Ask(path: server.url("/"), method: .get)
        try await Client.with(client) { client async throws -> Void in
            #expect(try await client.run(ask).body.count == 12)
            client.reconfigure { $0.tlsPolicies["localhost"]?.pinnedKeys = [String(repeating: "A", count: 43) + "="] }
            await #expect(throws: ErrandError.tlsPinMismatch) { try await client.run(ask) }
        }
    }
}
