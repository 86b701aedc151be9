import Errand
import ErrandTesting
import Foundation
import Testing

/// ``Client/Configuration/altServices`` over real TLS: the origin is nginx's port without HTTP/2, and the alternative the
/// one with HTTP/2.
@Suite(.timeLimit(.minutes(20))) struct AltServiceRunTests {
    private func with(
        _ cache: AltServiceCache, _ change: (inout Client.Configuration) -> Void = { _ in },
        _ body: (Client, _ base: String) async throws -> Void
    ) async throws {
        let nginx = try Nginx.shared.get()
        let number = nginx.number(of: .tls12)
        var configuration = Client.Configuration.patient(loops: 1)
        configuration.connection.tls.caFile = .value(nginx.certificateAuthorityPath)
        configuration.connection.httpVersion = .http2OverTLS
        configuration.connection.resolveOverrides = [number, nginx.number(of: .tls)].map {
            "errand.test:\($0):127.0.0.1"
        }
        configuration.altServices = cache
        change(&configuration)
        try await Client.with(Client(configuration: configuration)) {
            try await body($0, "https://errand.test:\(number)")
        }
    }

    private func learn(_ cache: AltServiceCache, _ base: String, _ value: String) {
        cache.learn([value], from: base, overFaultlessTLS: true)
    }

    private func port(_ response: Response) -> Int? {
        response.metrics.remoteAddress?.split(separator: ":").last.flatMap { Int($0) }
    }

    @Test func anAnnouncedPortIsUsed() async throws {
        let nginx = try Nginx.shared.get()
        let other = nginx.number(of: .tls)
        let cache = AltServiceCache()
        try await with(cache) { client, base async throws -> Void in
            // The field names the alternative's host, which the engine looks up.
            let first = try await client.run(Get(path: "\(base)/alt/\(other)"))
            #expect(port(first) == nginx.number(of: .tls12))
            #expect(cache.services(of: base).map(\.port) == [UInt16(other)])
            for _ in 0..<2 {
                let response = try await client.run(Get(path: "\(base)/echo"))
                #expect(port(response) == other)
                let text = try response.text()
                #expect(text.contains("sni: errand.test\n") && text.contains("host: errand.test:"))
            }
            // Streams and bodies too.
            let streamed = try await client.stream(Get(path: "\(base)/1m"))
            var count = 0
            for try await chunk in streamed.body { count += chunk.count }
            #expect(count == 1 << 20)
            #expect(streamed.head.metrics.remoteAddress?.hasSuffix(":\(other)") == true)
            let put = try await client.run(
                Get(path: "\(base)/dav/alt-\(UUID().uuidString)", method: .put, body: .string("x")))
            #expect(put.statusCode == 201 && port(put) == other)
        }
    }

    /// Nobody listens; another host's certificate; one that has expired. The origin answers.
    @Test func anAlternativeThatFails() async throws {
        let nginx = try Nginx.shared.get()
        let closed = try FaultPort(.refused)
        for number in [closed.number, nginx.number(of: .wrongHost), nginx.number(of: .expired)] {
            let cache = AltServiceCache()
            try await with(cache) { client, base async throws -> Void in
                learn(cache, base, "h2=\"127.0.0.1:\(number)\"")
                let response = try await client.run(Get(path: "\(base)/echo"))
                #expect(response.statusCode == 200 && port(response) == nginx.number(of: .tls12))
                #expect(cache.services(of: base).isEmpty)
                #expect(try await client.run(Get(path: "\(base)/12b")).statusCode == 200)
            }
        }
    }

    /// The guard judges the alternative's address; what the server announces opens nothing.
    @Test func aGuardedAddress() async throws {
        let nginx = try Nginx.shared.get()
        let own = UInt16(nginx.number(of: .tls12))
        let subject = AddressGuard(rules: [try .allow("127.0.0.1", ports: own...own)])
        let cache = AltServiceCache()
        try await with(cache, { $0.addressGuard = subject }) { client, base async throws -> Void in
            learn(cache, base, "h2=\"127.0.0.1:\(nginx.number(of: .tls))\"")
            #expect(port(try await client.run(Get(path: "\(base)/echo"))) == Int(own))
            #expect(cache.services(of: base).isEmpty)
        }
    }

    /// The alternative does not speak for the host: 421 (RFC 9110 15.5.20).
    @Test func aMisdirectedRequest() async throws {
        let nginx = try Nginx.shared.get()
        let cache = AltServiceCache()
        try await with(cache) { client, base async throws -> Void in
            learn(cache, base, "h2=\"127.0.0.1:\(nginx.number(of: .tls))\"")
            let response = try await client.run(Get(path: "\(base)/misdirected"))
            #expect(response.statusCode == 200 && port(response) == nginx.number(of: .tls12))
            #expect(cache.services(of: base).isEmpty)
        }
    }

    /// What the engine cannot use, and transfers that use no alternatives.
    @Test func theOriginIsUsed() async throws {
        let nginx = try Nginx.shared.get()
        let other = nginx.number(of: .tls)
        for (value, connection) in [
            ("h3=\":\(other)\"", nil), ("h2c=\":\(other)\"", nil), ("clear", nil),
            ("h2=\":\(other)\"", ConnectionOptions(httpVersion: .http1)),
            ("h2=\":\(other)\"", ConnectionOptions(tls: .init(insecureAcceptAnyHostName: true))),
        ] as [(String, ConnectionOptions?)] {
            let cache = AltServiceCache()
            try await with(cache) { client, base async throws -> Void in
                learn(cache, base, value)
                let response = try await client.run(Get(path: "\(base)/echo", connection: connection))
                #expect(port(response) == nginx.number(of: .tls12), "\(value)")
            }
        }
    }
}
