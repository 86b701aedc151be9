import Errand
import ErrandTesting
import Foundation
import Testing

/// What TLS asks for and shows, from Swift; the kinds of refusal are tested in the core.
@Suite struct CredentialTests {
    private func get(
        _ path: String, port: NginxServer.Port, _ tls: ConnectionOptions.TLS
    ) async throws -> Response {
        let server = try Nginx.shared.get()
        return try await Client.with(Client(configuration: .patient())) { client in
            try await client.run(
                Get(path: server.url(path, port: port), connection: ConnectionOptions(tls: tls)))
        }
    }

    @Test func theMinimumVersion() async throws {
        let authority = try Nginx.shared.get().certificateAuthorityPath
        let response = try await get("/12b", port: .tls12, .init(caFile: authority))
        #expect(response.statusCode == 200)
        await #expect(throws: ErrandError.tlsFailed) {
            try await get("/12b", port: .tls12, .init(caFile: authority, minimumVersion: .v1_3))
        }
    }

    @Test func thePasswordOfAKey() async throws {
        let server = try Nginx.shared.get()
        func tls(_ password: String?) -> ConnectionOptions.TLS {
            .init(
                caFile: server.certificateAuthorityPath, clientCertificate: server.certificate("client.pem"),
                clientKey: server.certificate("locked.key"), clientKeyPassword: password)
        }
        let response = try await get("/echo", port: .clientCertificate, tls("secret"))
        #expect(response.statusCode == 200)
        for password in [nil, "wrong"] {
            await #expect(throws: ErrandError.tlsCredentials) {
                try await get("/echo", port: .clientCertificate, tls(password))
            }
        }
    }

    /// nginx says 400 to a certificate that it does not trust.
    @Test func anUntrustedCertificate() async throws {
        let server = try Nginx.shared.get()
        let tls = ConnectionOptions.TLS(
            caFile: server.certificateAuthorityPath, clientCertificate: server.certificate("selfsigned.pem"),
            clientKey: server.certificate("selfsigned.key"))
        do {
            _ = try await get("/echo", port: .clientCertificate, tls)
            Issue.record("it was accepted")
        } catch let error as ErrandError {
            #expect(error.response?.statusCode == 400)
        }
    }
}
