import Errand
import ErrandTesting
import Foundation
import Testing

/// The client's jar, against a server that sets and shows cookies.
@Suite struct CookieTests {
    private func with(
        _ storage: CookieStorage, _ body: (Client, ScriptedServer) async throws -> Void
    ) async throws {
        let server = try ScriptedServer()
        try server.on(
            "/set",
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=1; path=/; HttpOnly; Max-Age=86400\r\n\r\n")])
        try server.on("/show", [.echo])
        var configuration = Client.Configuration.patient(baseURL: server.url("/"))
        configuration.cookies = storage
        try await Client.with(Client(configuration: configuration)) { try await body($0, server) }
    }

    private func shown(_ client: Client, _ options: CommandOptions = []) async throws -> String? {
        let response = try await client.run(Get(path: "show", options: options))
        let text = String(decoding: response.body.bytes, as: UTF8.self)
        return text.split(separator: "\r\n").first { $0.hasPrefix("Cookie: ") }.map { String($0.dropFirst(8)) }
    }

    @Test func aCookieComesBack() async throws {
        try await with(.memory) { client, _ in
            _ = try await client.run(Get(path: "set", options: .withoutCookies))
            #expect(try await shown(client) == nil)
            _ = try await client.run(Get(path: "set"))
            #expect(try await shown(client) == "a=1")
            #expect(try await shown(client, .withoutCookies) == nil)
            let cookies = try #require(client.cookies)
            let kept = try #require(try cookies.all().first)
            #expect(kept.name == "a" && kept.value == "1" && kept.domain == "127.0.0.1" && kept.isHTTPOnly)
            #expect(try #require(kept.expires).timeIntervalSinceNow > 80_000)
            try cookies.set(Cookie(name: "b", value: "2", domain: "127.0.0.1"))
            #expect(try await shown(client)?.contains("b=2") == true)
            try cookies.removeAll(sessionOnly: true)
            #expect(try cookies.all().map(\.name) == ["a"])
            try cookies.remove(named: "a", domain: "127.0.0.1")
            #expect(try cookies.all().isEmpty)
            #expect(try await shown(client) == nil)
            #expect(throws: ErrandError.invalidOption) { try cookies.save() }
            for wrong in [
                Cookie(name: "", value: "", domain: "a"), Cookie(name: "n", value: "a\r\nb", domain: "a"),
                Cookie(name: "n", value: "v", domain: "com", includesSubdomains: true),
                Cookie(name: "n", value: "v", domain: "com.", includesSubdomains: true),
                Cookie(name: "n", value: "v", domain: "127.0.0.1", includesSubdomains: true),
                Cookie(name: "n", value: "v", domain: "::1", includesSubdomains: true),
                Cookie(name: "n", value: "v", domain: "[::1]", includesSubdomains: true),
                Cookie(name: "n", value: "a\0", domain: "a"), Cookie(name: "n", value: "v", domain: "a", path: "x"),
            ] {
                #expect(throws: ErrandError.invalidArgument) { try cookies.set(wrong) }
            }
            for right in [
                Cookie(name: "n", value: "v", domain: "com"), Cookie(name: "n", value: "v", domain: "127.0.0.1"),
                Cookie(name: "n", value: "v", domain: "example.com", includesSubdomains: true),
                Cookie(name: "n", value: "v", domain: "LocalHost", includesSubdomains: true),
            ] {
                try cookies.set(right)
            }
            #expect(try cookies.all().count == 4)
        }
    }

    @Test func offByDefault() async throws {
        try await with(.off) { client, _ in
            #expect(client.cookies == nil)
            _ = try await client.run(Get(path: "set"))
            #expect(try await shown(client) == nil)
        }
    }

    @Test func aFileOutlivesTheClient() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/errand-cookies-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var jar: CookieJar?
        try await with(.file(path)) { client, _ in
            _ = try await client.run(Get(path: "set"))
            try client.cookies?.save()
            #expect(FileManager.default.fileExists(atPath: path))
            try client.cookies?.set(Cookie(name: "late", value: "2", domain: "127.0.0.1"))
            jar = client.cookies
        }
        #expect(throws: ErrandError.shutDown) { try jar?.all() }
        try await with(.file(path)) { client, _ in
            let sent = try await shown(client)
            #expect(sent?.contains("a=1") == true && sent?.contains("late=2") == true)
        }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    /// A jar behind links is written where it is; it need not be there yet.
    @Test func linksStay() async throws {
        let manager = FileManager.default
        let folder = manager.temporaryDirectory.path + "/errand-jar-\(UUID().uuidString)"
        try manager.createDirectory(atPath: folder + "/there", withIntermediateDirectories: true)
        defer { try? manager.removeItem(atPath: folder) }
        try manager.createSymbolicLink(atPath: folder + "/one", withDestinationPath: "there/two")
        try manager.createSymbolicLink(atPath: folder + "/there/two", withDestinationPath: folder + "/there/jar")
        for count in 1...2 {
            try await with(.file(folder + "/one")) { client, _ in
                try client.cookies?.set(Cookie(name: "c\(count)", value: "1", domain: "127.0.0.1"))
                try client.cookies?.save()
                #expect(try client.cookies?.all().count == count)
            }
        }
        #expect(try manager.destinationOfSymbolicLink(atPath: folder + "/one") == "there/two")
        #expect(try manager.destinationOfSymbolicLink(atPath: folder + "/there/two") == folder + "/there/jar")
        #expect(try manager.contentsOfDirectory(atPath: folder + "/there").sorted() == ["jar", "two"])
        try manager.createSymbolicLink(atPath: folder + "/circle", withDestinationPath: "circle")
        try await with(.file(folder + "/circle")) { client, _ in
            #expect(throws: ErrandError.self) { try client.cookies?.save() }
        }
    }

    @Test func filesThatCannotBeUsed() async throws {
        try await with(.file("/")) { client, _ in
            await #expect(throws: ErrandError.fileUnreadable) { try await client.run(Get(path: "show")) }
            #expect(throws: ErrandError.fileUnreadable) { try client.cookies?.all() }
        }
        try await with(.file("/nowhere/jar")) { client, _ in
            _ = try await client.run(Get(path: "set"))
            #expect(throws: ErrandError.fileUnwritable) { try client.cookies?.save() }
        }
        try await with(.file("a\0b")) { client, _ in
            await #expect(throws: ErrandError.invalidOption) { try await client.run(Get(path: "show")) }
        }
    }
}
