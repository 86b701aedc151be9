import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandEngine
@testable import ErrandResilience

/// ``Client/Configuration/addressGuard``: what is refused is never connected to.
@Suite(.timeLimit(.minutes(20))) struct AddressGuardRunTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private static func redirect(_ status: Int, to url: String) -> String {
        "HTTP/1.1 \(status) There\r\nLocation: \(url)\r\nContent-Length: 0\r\n\r\n"
    }

    /// A guard that opens these ports of 127.0.0.1.
    private static func opening(_ ports: Int...) throws -> AddressGuard {
        var subject = AddressGuard()
        for port in ports {
            let port = try #require(UInt16(exactly: port))
            subject.rules.append(try .allow("127.0.0.1", ports: port...port))
        }
        return subject
    }

    private func with(
        _ subject: AddressGuard?, _ change: (inout Client.Configuration) -> Void = { _ in },
        _ body: (Client) async throws -> Void
    ) async throws {
        var configuration = Client.Configuration.patient(loops: 1)
        configuration.addressGuard = subject
        change(&configuration)
        try await Client.with(Client(configuration: configuration), body)
    }

    private func refusal(_ client: Client, _ get: Get) async -> ErrandError? {
        guard case .failure(let error) = await client.result(of: get) else { return nil }
        return error == .addressRefused ? error : nil
    }

    @Test func onlyTheServerOfTheRule() async throws {
        let (own, other) = (try ScriptedServer(), try ScriptedServer())
        for server in [own, other] { try server.on(nil, [.send(Self.ok)]) }
        let subject = try Self.opening(own.port)
        try await with(subject) { client async throws -> Void in
            for _ in 0..<3 { #expect(try await client.run(Get(path: own.url())).statusCode == 200) }
            let error = try #require(await refusal(client, Get(path: other.url())))
            #expect(error.message == "the address filter refused 127.0.0.1:\(other.port) (loopback)")
            #expect(error.isRefusal && !error.isTransient && error.response == nil)
            // The refusal of one server does not disturb the connection to the other.
            #expect(try await client.run(Get(path: own.url())).metrics.isConnectionReused)
        }
        #expect(own.counts.connections == 1 && other.counts.connections == 0)
    }

    /// The loopback server would answer under each of these names.
    @Test func everySpelling() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(Self.ok)])
        try await with(AddressGuard()) { client async throws -> Void in
            for (host, rule) in [
                ("127.0.0.1", "loopback"), ("localhost", "loopback"), ("127.1", "loopback"), ("0x7f.1", "loopback"),
                ("2130706433", "loopback"), ("0177.0.0.1", "loopback"), ("%31%32%37.0.0.1", "loopback"),
                ("127.0.0.1.", "loopback"), ("0", "this network"), ("[::1]", "loopback"),
                ("[::ffff:127.0.0.1]", "IPv4-mapped"), ("[::ffff:7f00:1]", "IPv4-mapped"), ("[::]", "unspecified"),
                ("[64:ff9b::7f00:1]", "NAT64"), ("[64:ff9b:1::7f00:1]", "local NAT64"), ("[2002:7f00:1::]", "6to4"),
                ("user:pw@127.0.0.1", "loopback"), ("１２７.０.０.１", "loopback"),
            ] {
                let error = await refusal(client, Get(path: "http://\(host):\(server.port)/"))
                #expect(error?.message.hasSuffix("(\(rule))") == true, "\(host): \(error?.message ?? "no refusal")")
            }
        }
        #expect(server.counts.connections == 0)
    }

    /// The first address of each range, by a real attempt to connect.
    @Test func everySpecialRange() async throws {
        try await with(AddressGuard()) { client async throws -> Void in
            for special in AddressGuard.specialRanges {
                let base = special.range.base
                guard case .refused(let rule) = AddressGuard().verdict(for: base, port: 80) else {
                    #expect(Bool(false), "\(base) is allowed")
                    continue
                }
                let host = base.family == .v6 ? "[\(base)]" : "\(base)"
                let error = await refusal(client, Get(path: "http://\(host)/"))
                #expect(error?.message.hasSuffix("(\(rule))") == true, "\(host): \(error?.message ?? "no refusal")")
            }
        }
    }

    /// With mapped addresses allowed, the server is reached by one.
    @Test func aMappedAddressThatIsAllowed() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(Self.ok)])
        var subject = try Self.opening(server.port)
        let url = "http://[::ffff:127.0.0.1]:\(server.port)/"
        try await with(subject) { #expect(await refusal($0, Get(path: url)) != nil) }
        subject.rules.append(try .allow("::ffff:0:0/96"))
        try await with(subject) { client async throws -> Void in
            #expect(try await client.run(Get(path: url)).statusCode == 200)
        }
        #expect(server.counts.connections == 1)
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func aRedirect(status: Int) async throws {
        let (own, other) = (try ScriptedServer(), try ScriptedServer())
        try other.on(nil, [.send(Self.ok)])
        try own.on("/away", [.readBody, .send(Self.redirect(status, to: other.url()))])
        try own.on("/here", [.readBody, .send(Self.redirect(status, to: "/end"))])
        try own.on("/end", [.readBody, .send(Self.ok)])
        try await with(try Self.opening(own.port)) { client async throws -> Void in
            for method in ["GET", "POST"] {
                let body: RequestBody = method == "POST" ? .string("x") : .empty
                func get(_ path: String) -> Get {
                    Get(path: own.url(path), method: method == "POST" ? .post : .get, body: body)
                }
                let error = try #require(await refusal(client, get("/away")))
                #expect(error.response?.statusCode == status && !error.isRefusal)
                #expect(error.message.contains("127.0.0.1:\(other.port) (loopback)"))
                #expect(try await client.run(get("/here")).statusCode == 200)
            }
        }
        #expect(other.counts.connections == 0)
    }

    /// A chain of allowed servers that ends at one that is not.
    @Test func theLastOfSeveralRedirects() async throws {
        let (first, second, other) = (try ScriptedServer(), try ScriptedServer(), try ScriptedServer())
        try other.on(nil, [.send(Self.ok)])
        try first.on(nil, [.send(Self.redirect(302, to: second.url()))])
        try second.on(nil, [.send(Self.redirect(302, to: "http://localhost:\(other.port)/"))])
        try await with(try Self.opening(first.port, second.port)) { client async throws -> Void in
            #expect(await refusal(client, Get(path: first.url())) != nil)
        }
        #expect(first.counts.requests == 1 && second.counts.requests == 1 && other.counts.connections == 0)
    }

    /// The guard judges the proxy, and the address that the proxy is asked for.
    @Test func aProxy() async throws {
        let (target, proxy) = (try ScriptedServer(), try ScriptedServer())
        try target.on(nil, [.echo])
        try proxy.on(nil, [.proxy])
        let byProxy = { (configuration: inout Client.Configuration) in
            configuration.connection.proxy = .url("http://127.0.0.1:\(proxy.port)")
        }
        for port in [target.port, proxy.port] {
            try await with(try Self.opening(port), byProxy) { client async throws -> Void in
                let error = try #require(await refusal(client, Get(path: target.url())))
                #expect(error.message.contains("to ask the proxy") == (port == proxy.port) && error.isRefusal)
                #expect(client.addressGuardCounts?.byRule == ["loopback": 1])
            }
        }
        #expect(proxy.counts.connections == 0)
        try await with(try Self.opening(target.port, proxy.port), byProxy) { client async throws -> Void in
            #expect(try await client.run(Get(path: target.url())).statusCode == 200)
            let digits = "http://2130706433:\(proxy.port + 1)/"
            #expect(await refusal(client, Get(path: digits)) != nil)
        }
        #expect(proxy.counts.connections == 1)
        let socks = try ScriptedServer()
        try socks.onConnection(0, [.socks5()])
        let bySocks = { (configuration: inout Client.Configuration) in
            configuration.connection.proxy = .url("socks5h://127.0.0.1:\(socks.port)")
        }
        try await with(try Self.opening(target.port), bySocks) { client async throws -> Void in
            #expect(await refusal(client, Get(path: target.url())) != nil)
        }
        #expect(socks.counts.connections == 0)
    }

    /// For `socks5://` libcurl would look the name up, and nobody would judge the address.
    @Test func aNameBehindASOCKSProxy() async throws {
        let (target, proxy) = (try ScriptedServer(), try ScriptedServer())
        try target.on(nil, [.echo])
        try proxy.onConnection(0, [.socks5()])
        let bySocks = { (configuration: inout Client.Configuration) in
            configuration.connection.proxy = .url("socks5://127.0.0.1:\(proxy.port)")
        }
        let get = Get(path: "http://localhost:\(target.port)/")
        var subject = try Self.opening(proxy.port)
        try await with(subject, bySocks) { client async throws -> Void in
            #expect(try await client.run(get).statusCode == 200)
        }
        #expect(proxy.requests.map(\.method) == ["DOMAIN"])
        subject.proxiedNames = .refuse
        try await with(subject, bySocks) { client async throws -> Void in
            #expect(await refusal(client, get)?.message.hasSuffix("(proxied name)") == true)
        }
        #expect(proxy.counts.connections == 1)
    }

    @Test func theNextAddressOfAName() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(Self.ok)])
        let url = "http://a.invalid:\(server.port)/"
        func get(_ addresses: String) -> Get {
            Get(
                path: url,
                connection: ConnectionOptions(resolveOverrides: ["a.invalid:\(server.port):\(addresses)"]))
        }
        try await with(try Self.opening(server.port)) { client async throws -> Void in
            for addresses in [
                "127.0.0.2,127.0.0.1", "[::1],127.0.0.1", "127.0.0.2,[::1],[::ffff:127.0.0.1],127.0.0.1",
            ] {
                #expect(try await client.run(get(addresses)).statusCode == 200, "\(addresses)")
            }
            #expect(await refusal(client, get("127.0.0.2,[::1],10.0.0.1")) != nil)
        }
        #expect(server.counts.connections == 3)
    }

    /// The name leads to an allowed address first and to another one later (DNS rebinding). Given addresses stand for
    /// the answers of DNS; `address_filter_test` has real ones.
    @Test func anotherAnswerTheSecondTime() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(Self.ok)])
        try await with(try Self.opening(server.port)) { client async throws -> Void in
            for (address, isAllowed) in [("127.0.0.1", true), ("127.0.0.2", false), ("169.254.169.254", false)] {
                let options = ConnectionOptions(resolveOverrides: ["a.invalid:\(server.port):\(address)"])
                let get = Get(path: "http://a.invalid:\(server.port)/", connection: options)
                #expect((await refusal(client, get) == nil) == isAllowed)
            }
        }
        #expect(server.counts.requests == 1)
    }

    @Test func http2() async throws {
        let nginx = try Nginx.shared.get()
        let subject = try Self.opening(nginx.number(of: .tls))
        let secured = { (configuration: inout Client.Configuration) in
            configuration.connection.tls.caFile = .value(nginx.certificateAuthorityPath)
            configuration.connection.httpVersion = .http2OverTLS
        }
        try await with(subject, secured) { client async throws -> Void in
            for _ in 0..<3 {
                let response = try await client.run(Get(path: nginx.url("/12b", port: .tls)))
                #expect(response.statusCode == 200)
            }
            #expect(await refusal(client, Get(path: nginx.url("/12b", port: .tls12))) != nil)
        }
    }

    @Test func streamsDownloadsAndSockets() async throws {
        let server = try ScriptedServer()
        let folder = try DownloadTests.Folder()
        try await with(AddressGuard()) { client async throws -> Void in
            await #expect(throws: ErrandError.addressRefused) { try await client.stream(Get(path: server.url())) }
            await #expect(throws: ErrandError.addressRefused) {
                try await client.run(Download(server.url(), to: .directory(folder.path)))
            }
            await #expect(throws: hasWebSocket ? ErrandError.addressRefused : .unsupportedFeature) {
                try await client.webSocket(Get(path: server.url()))
            }
        }
        #expect(server.counts.connections == 0)
    }

    /// A refusal is decided by the program, not by the network: it is not repeated, and no breaker counts it.
    @Test func aRefusalIsNotRetried() async throws {
        let server = try ScriptedServer()
        let resilient = { (configuration: inout Client.Configuration) in
            configuration.resilience = Resilience(
                retry: RetryPolicy(backoff: RetryBackoff(base: .milliseconds(1))),
                breaker: BreakerPolicy(window: .count(10), minimumCalls: 1))
        }
        try await with(AddressGuard(), resilient) { client async throws -> Void in
            for _ in 0..<5 { #expect(await refusal(client, Get(path: server.url()))?.isRefusal == true) }
            #expect(client.resilience?.counts.attempts == 5)
            #expect(client.resilience?.breakers?.all.first?.state ?? .closed == .closed)
        }
    }

    @Test func aUnixSocketIsNotJudged() async throws {
        let path = "/tmp/errand-\(UUID().uuidString).sock"
        let server = try ScriptedServer(unixSocketPath: path)
        try server.on(nil, [.send(Self.ok)])
        try await with(AddressGuard()) { client async throws -> Void in
            for _ in 0..<2 {
                let get = Get(path: "http://127.0.0.1/", connection: ConnectionOptions(unixSocketPath: path))
                #expect(try await client.run(get).statusCode == 200)
            }
            #expect(client.addressGuardCounts?.refused == 0)
        }
        #expect(server.counts.connections == 1)
    }

    /// Clients share no connections, so none that was made without a guard is used with one.
    @Test func poolsArePartedByClient() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(Self.ok)])
        try await with(nil) { open async throws -> Void in
            #expect(try await open.run(Get(path: server.url())).statusCode == 200)
            try await with(AddressGuard()) { guarded async throws -> Void in
                #expect(await refusal(guarded, Get(path: server.url())) != nil)
                #expect(try await open.run(Get(path: server.url())).metrics.isConnectionReused)
            }
        }
        #expect(server.counts.connections == 1)
    }

    /// A filter that changes its mind: the kept connection is not used any more.
    @Test func aKeptConnectionIsJudged() async throws {
        final class Moody: AddressFilter {
            let refuses = Atomic(false)
            let asked = Atomic(0)
            let askedOpen = Atomic(0)

            func refusal(of address: UnsafeRawBufferPointer, port: UInt16, isOpen: Bool) -> String? {
                asked.add(1, ordering: .relaxed)
                if isOpen { askedOpen.add(1, ordering: .relaxed) }
                return refuses.load(ordering: .relaxed) ? String(repeating: "ü", count: 100) : nil
            }
        }
        let server = try ScriptedServer()
        try server.on(nil, [.send(Self.ok)])
        let filter = Moody()
        try await with(nil, { $0.addressFilter = filter }) { client async throws -> Void in
            #expect(try await client.run(Get(path: server.url())).statusCode == 200)
            filter.refuses.store(true, ordering: .relaxed)
            let error = try #require(await refusal(client, Get(path: server.url())))
            // The reason is cut to the room that there is.
            #expect(error.message.contains("(üüü"))
            #expect(server.counts.requests == 1)
            filter.refuses.store(false, ordering: .relaxed)
            #expect(try await client.run(Get(path: server.url())).statusCode == 200)
        }
        #expect(filter.asked.load(ordering: .relaxed) == 6)
        // Twice a request was sent on a connection that it had made.
        #expect(filter.askedOpen.load(ordering: .relaxed) == 2)
        #expect(server.counts.connections == 2)
    }

    // MARK: Counts and dry runs

    @Test func refusalsAreCounted() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(Self.ok)])
        try await with(nil) { #expect($0.addressGuardCounts == nil) }
        var subject = try Self.opening(server.port)
        subject.ports = [80...80]
        subject.rules.append(try .deny("127.0.0.2"))
        try await with(subject) { client async throws -> Void in
            #expect(try await client.run(Get(path: server.url())).statusCode == 200)
            #expect(client.addressGuardCounts?.refused == 0 && client.addressGuardCounts?.byRule.isEmpty == true)
            for host in ["10.0.0.1", "10.0.0.2", "127.0.0.2", "8.8.8.8:81"] {
                #expect(await refusal(client, Get(path: "http://\(host)/")) != nil, "\(host)")
            }
            let counts = try #require(client.addressGuardCounts)
            #expect(counts.refused == 4 && counts.wouldRefuse == 0)
            #expect(counts.byRule == ["private": 2, "deny 127.0.0.2/32": 1, "port": 1])
        }
    }

    /// A connection that is made counts once, and so does each request on it after that.
    @Test func aDryRunCountsOnly() async throws {
        let (own, other) = (try ScriptedServer(), try ScriptedServer())
        try own.on(nil, [.send(Self.redirect(302, to: other.url()))])
        try other.on(nil, [.send(Self.ok)])
        var subject = try Self.opening(own.port)
        subject.isDryRun = true
        try await with(subject) { client async throws -> Void in
            for count in 1...3 {
                #expect(try await client.run(Get(path: other.url())).statusCode == 200)
                #expect(client.addressGuardCounts?.wouldRefuse == count)
            }
            // The first hop goes to a server that is allowed.
            #expect(try await client.run(Get(path: own.url())).statusCode == 200)
            let counts = try #require(client.addressGuardCounts)
            #expect(counts.wouldRefuse == 4 && counts.refused == 0 && counts.byRule == ["loopback": 4])
        }
        #expect(own.counts.connections == 1 && other.counts.connections == 1)
    }

    /// Of several addresses only those count that are tried: on a busy machine both.
    @Test func aDryRunOfSeveralAddresses() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(Self.ok)])
        let addresses = "127.0.0.1,127.0.0.2"
        let options = ConnectionOptions(resolveOverrides: ["a.invalid:\(server.port):\(addresses)"])
        let get = Get(path: "http://a.invalid:\(server.port)/", connection: options)
        for isDryRun in [false, true] {
            try await with(AddressGuard(isDryRun: isDryRun)) { client async throws -> Void in
                #expect((await refusal(client, get) == nil) == isDryRun)
                let counts = try #require(client.addressGuardCounts)
                let total = isDryRun ? counts.wouldRefuse : counts.refused
                #expect(counts.byRule == ["loopback": total])
                #expect(total == 2 || isDryRun && total == 1)
            }
        }
    }

    @Test func aDryRunOfHTTP2() async throws {
        let nginx = try Nginx.shared.get()
        let secured = { (configuration: inout Client.Configuration) in
            configuration.connection.tls.caFile = .value(nginx.certificateAuthorityPath)
            configuration.connection.httpVersion = .http2OverTLS
        }
        try await with(AddressGuard(isDryRun: true), secured) { client async throws -> Void in
            for count in 1...3 {
                let response = try await client.run(Get(path: nginx.url("/12b", port: .tls)))
                #expect(response.statusCode == 200)
                #expect(client.addressGuardCounts?.byRule == ["loopback": count])
            }
        }
    }

    /// A connection that a dry run has opened is not for a client whose guard refuses, nor are its counts.
    @Test func aDryRunOpensNothingForOthers() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(Self.ok)])
        try await with(AddressGuard(isDryRun: true)) { dry async throws -> Void in
            #expect(try await dry.run(Get(path: server.url())).statusCode == 200)
            try await with(AddressGuard()) { strict async throws -> Void in
                #expect(await refusal(strict, Get(path: server.url())) != nil)
                #expect(strict.addressGuardCounts?.refused == 1 && strict.addressGuardCounts?.wouldRefuse == 0)
            }
            #expect(try await dry.run(Get(path: server.url())).metrics.isConnectionReused)
            #expect(dry.addressGuardCounts?.wouldRefuse == 2 && dry.addressGuardCounts?.refused == 0)
        }
        #expect(server.counts.connections == 1 && server.counts.requests == 2)
    }

    /// Clients of one configuration have counts of their own, which stay after a shutdown.
    @Test func eachClientCountsForItself() async throws {
        var configuration = Client.Configuration.patient(loops: 1)
        configuration.addressGuard = AddressGuard()
        let clients = [Client(configuration: configuration), Client(configuration: configuration)]
        for _ in 0..<2 { #expect(await refusal(clients[0], Get(path: "http://10.0.0.1/")) != nil) }
        for client in clients { await client.shutdown() }
        #expect(clients.map { $0.addressGuardCounts?.refused } == [2, 0])
        let borrowing = Client(configuration: configuration, transport: StubTransport { _ in .response(status: 200) })
        #expect(borrowing.addressGuardCounts == nil)
        await borrowing.shutdown()
    }
}
