import Errand
import ErrandTesting
import Foundation
import Testing

/// ``Client/Configuration/hsts`` over real TLS. A port other than 80 stays, so an http URL with nginx's TLS port works
/// only if it becomes an https URL.
@Suite(.timeLimit(.minutes(20))) struct HSTSRunTests {
    private func with(
        _ store: HSTSStore, port: NginxServer.Port = .tls,
        _ change: (inout Client.Configuration) -> Void = { _ in },
        _ body: (Client, _ authority: String) async throws -> Void
    ) async throws {
        let nginx = try Nginx.shared.get()
        let number = nginx.number(of: port)
        var configuration = Client.Configuration.patient(loops: 1)
        configuration.connection.tls.caFile = .value(nginx.certificateAuthorityPath)
        configuration.connection.resolveOverrides = ["errand.test:\(number):127.0.0.1"]
        configuration.hsts = store
        change(&configuration)
        try await Client.with(Client(configuration: configuration)) { try await body($0, "errand.test:\(number)") }
    }

    @Test func aHostTeachesAndIsReachedByTLS() async throws {
        let store = HSTSStore()
        try await with(store) { client, authority async throws -> Void in
            // nginx refuses clear text on this port.
            await #expect(throws: ErrandError.statusNotAccepted) {
                try await client.run(Get(path: "http://\(authority)/12b"))
            }
            #expect(try await client.run(Get(path: "https://\(authority)/hsts")).statusCode == 200)
            #expect(store.isKnown("errand.test"))
            let response = try await client.run(Get(path: "http://\(authority)/echo"))
            #expect(response.statusCode == 200)
            #expect(try response.text().contains("sni: errand.test\n"))
            #expect(try await client.run(Get(path: "https://\(authority)/hsts/off")).statusCode == 200)
            #expect(!store.isKnown("errand.test") && store.count == 0)
        }
    }

    /// The redirect leads to http on the same port, in the response that teaches.
    @Test func aRedirect() async throws {
        let store = HSTSStore()
        try await with(store) { client, authority async throws -> Void in
            let response = try await client.run(Get(path: "https://\(authority)/hsts/away"))
            #expect(response.statusCode == 200)
            #expect(try response.text().contains("sni: errand.test\n"))
        }
        // Without a store the same redirect is a downgrade.
        try await with(store, { $0.hsts = nil }) { client, authority async throws -> Void in
            await #expect(throws: ErrandError.redirectRefused) {
                try await client.run(Get(path: "https://\(authority)/hsts/away"))
            }
        }
    }

    /// RFC 6797 8.4: no way around an error of TLS.
    @Test func nothingFallsBackToClearText() async throws {
        let store = HSTSStore(preloads: [.init("errand.test")])
        try await with(store, port: .http) { client, authority async throws -> Void in
            await #expect(throws: ErrandError.tlsFailed) { try await client.run(Get(path: "http://\(authority)/12b")) }
        }
        try await with(store, port: .expired) { client, authority async throws -> Void in
            await #expect(throws: ErrandError.tlsUntrusted) {
                try await client.run(Get(path: "http://\(authority)/12b"))
            }
        }
    }

    /// A certificate that was accepted by force teaches nothing.
    @Test func aFaultTeachesNothing() async throws {
        let store = HSTSStore()
        let careless = { (configuration: inout Client.Configuration) in
            configuration.connection.tls.insecureAcceptAnyCertificate = true
            configuration.connection.tls.insecureAcceptAnyHostName = true
        }
        try await with(store, port: .expired, careless) { client, authority async throws -> Void in
            #expect(try await client.run(Get(path: "https://\(authority)/hsts")).statusCode == 200)
        }
        try await with(store) { client, _ async throws -> Void in
            let nginx = try Nginx.shared.get()
            #expect(try await client.run(Get(path: nginx.url("/hsts", port: .tls))).statusCode == 200)
        }
        #expect(store.count == 0)
    }

    /// What one process has learned, the next one knows.
    @Test func aStoreThatLasts() async throws {
        let folder = try DownloadTests.Folder()
        let path = folder.path + "/hsts"
        let first = HSTSStore()
        try await with(first) { client, authority async throws -> Void in
            #expect(try await client.run(Get(path: "https://\(authority)/hsts")).statusCode == 200)
        }
        try first.save(to: path)
        let second = HSTSStore()
        #expect(try second.load(from: path) == 0)
        try await with(second) { client, authority async throws -> Void in
            #expect(try await client.run(Get(path: "http://\(authority)/12b")).statusCode == 200)
        }
    }
}
