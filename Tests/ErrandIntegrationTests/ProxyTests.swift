import Errand
import ErrandTesting
import Testing

/// Proxies by ``ConnectionOptions/Proxy``; the kinds and failures are tested in the core.
@Suite struct ProxyTests {
    private func get(_ url: String, by proxy: ConnectionOptions.Proxy) async throws -> Response {
        try await Client.with(Client(configuration: .patient())) { client in
            try await client.run(Get(path: url, connection: ConnectionOptions(proxy: proxy)))
        }
    }

    private func address(_ server: ScriptedServer) -> String {
        String(server.url("").dropFirst("http://".count).prefix { $0 != "/" })
    }

    @Test func httpWithAndWithoutPassword() async throws {
        let (target, proxy) = (try ScriptedServer(), try ScriptedServer())
        try target.on(nil, [.echo])
        try proxy.on(nil, [.proxy])
        for user in ["", "ada:pw@"] {
            let response = try await get(target.url("/"), by: .url("http://\(user)\(address(proxy))"))
            #expect(response.statusCode == 200)
        }
        #expect(proxy.requests.map { $0.values(of: "Proxy-Authorization") } == [[], ["Basic YWRhOnB3"]])
        #expect(target.requests.allSatisfy { $0.values(of: "Proxy-Authorization").isEmpty })
        let direct = try await get(
            target.url("/"), by: .url("http://\(address(proxy))", bypass: ["127.0.0.1"]))
        #expect(direct.statusCode == 200)
        #expect(proxy.requests.count == 2)
    }

    /// Forms that libcurl has other words for; none of these goes to the proxy.
    @Test(arguments: [
        ("http://a.corp.test", "*.corp.test"), ("http://a.corp.test", ".corp.test"),
        ("http://a.corp.test", "corp.test"),
        ("http://a.corp.test", "test"), ("http://127.0.0.1", "127.0.0.0/8"), ("http://127.0.0.1", "*"),
        ("http://[::1]", "[::1]"), ("http://[::1]", "::1/128"), ("http://bücher.test", "*.example, bücher.test"),
    ])
    func whatPassesByTheProxy(host: String, bypass: String) async throws {
        let (target, proxy) = (try ScriptedServer(), try ScriptedServer())
        try target.on(nil, [.echo])
        try proxy.on(nil, [.proxy])
        let port = try #require(address(target).split(separator: ":").last)
        func status(_ bypass: [String]) async throws -> Int? {
            try await Client.with(Client(configuration: .patient())) { client in
                let options = ConnectionOptions(
                    proxy: .url("http://\(address(proxy))", bypass: bypass),
                    resolveOverrides: ["a.corp.test", "xn--bcher-kva.test"].map { "\($0):\(port):127.0.0.1" })
                // The server has no IPv6 address: there nobody answers.
                return try? await client.run(Get(path: "\(host):\(port)/", connection: options)).statusCode
            }
        }
        #expect(try await status([bypass]) == (host.contains("[") ? nil : 200))
        #expect(proxy.requests.isEmpty)
        _ = try await status(["other.test"])
        // 8.21.0 cannot ask an HTTP proxy for an IPv6 literal (docs/libcurl.md).
        let isLacking = host.contains("[") && libcurlVersion.hasPrefix("libcurl/8.21.0")
        #expect(proxy.requests.count == (isLacking ? 0 : 1))
    }

    /// A command that only asks for another encoding still goes by the client's proxy.
    @Test func aCommandKeepsTheClientsProxy() async throws {
        let (target, proxy) = (try ScriptedServer(), try ScriptedServer())
        try target.on(nil, [.echo])
        try proxy.on(nil, [.proxy])
        var configuration = Client.Configuration.patient()
        configuration.connection.proxy = .url("http://\(address(proxy))")
        try await Client.with(Client(configuration: configuration)) { client async throws -> Void in
            for (options, count) in [
                (ConnectionOptions(encodings: .gzip), 1), (ConnectionOptions(proxy: .direct), 1),
                (ConnectionOptions(httpVersion: .http1), 2),
            ] {
                #expect(try await client.run(Get(path: target.url("/"), connection: options)).statusCode == 200)
                #expect(proxy.requests.count == count)
            }
        }
    }

    @Test func socks5WithAndWithoutPassword() async throws {
        let target = try ScriptedServer()
        try target.on(nil, [.echo])
        for (user, step) in [
            ("", ScriptedServer.Step.socks5()), ("ada:pw@", .socks5(username: "ada", password: "pw")),
        ] {
            let proxy = try ScriptedServer()
            try proxy.onConnection(0, [step])
            let port = address(target).split(separator: ":").last ?? ""
            let response = try await get(
                "http://nowhere.invalid:\(port)/", by: .url("socks5h://\(user)\(address(proxy))"))
            #expect(response.statusCode == 200)
            #expect(proxy.requests.map(\.method) == ["DOMAIN"])
        }
        let closed = try ScriptedServer()
        try closed.onConnection(0, [.socks5(username: "ada", password: "pw")])
        await #expect(throws: ErrandError.proxyFailed) {
            try await get("http://nowhere.invalid/", by: .url("socks5h://ada:no@\(address(closed))"))
        }
    }

    /// The server's authority is not the proxy's.
    @Test func tlsToTheProxy() async throws {
        let server = try Nginx.shared.get()
        let authority = server.certificateAuthorityPath
        // nginx answers the absolute target as a server.
        let proxy = ConnectionOptions.Proxy.url("https://127.0.0.1:\(server.number(of: .tls12))")
        func get(_ tls: ConnectionOptions.TLS) async throws -> Response {
            try await Client.with(Client(configuration: .patient())) { client in
                try await client.run(
                    Get(path: "http://nowhere.invalid/12b", connection: ConnectionOptions(tls: tls, proxy: proxy)))
            }
        }
        await #expect(throws: ErrandError.self) { try await get(.init(caFile: authority)) }
        var tls = ConnectionOptions.TLS(minimumVersion: .v1_3)
        tls.proxyCAFile = .value(authority)
        #expect(try await get(tls).statusCode == 200)
    }
}
