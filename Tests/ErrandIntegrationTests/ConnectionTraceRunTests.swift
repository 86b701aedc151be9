import Errand
import ErrandTesting
import Foundation
import Testing

/// ``RequestEvent/connected(_:)`` over loopback; what the core reads of a connection is tested there.
@Suite struct ConnectionTraceRunTests {
    private func traces(_ recorder: EventRecorder) -> [ConnectionTrace] {
        recorder.entries.compactMap { entry in
            guard case .connected(let trace) = entry.event else { return nil }
            return trace
        }
    }

    @Test func comesBeforeTheRequestIsSent() async throws {
        let server = try Nginx.shared.get()
        let recorder = EventRecorder()
        var configuration = Client.Configuration.patient()
        configuration.accessories = [recorder]
        try await Client.with(Client(configuration: configuration)) { (client) async throws in
            let get = Get(path: server.url("/12b"), options: .connectionTrace)
            for _ in 1...2 { #expect(try await client.run(get).statusCode == 200) }
        }
        let names = ["willStart", "queued", "started", "connected", "sent", "head 200", "willStop", "didStop"]
        #expect(recorder.names == names + names)
        let traces = traces(recorder)
        #expect(traces.map(\.isReused) == [false, true])
        #expect(traces.allSatisfy { $0.tls == nil && $0.proxy == nil })
        #expect(traces.first?.connected != nil && traces.last?.connected == nil)
        #expect(traces.first?.remoteAddress?.hasPrefix("127.0.0.1:") == true)
        #expect(traces.first?.localAddress == traces.last?.localAddress)
    }

    @Test func hasTheServersCertificate() async throws {
        let server = try Nginx.shared.get()
        let recorder = EventRecorder()
        var configuration = Client.Configuration.patient()
        configuration.accessories = [recorder]
        configuration.connection.tls.caFile = .value(server.certificateAuthorityPath)
        try await Client.with(Client(configuration: configuration)) { (client) async throws in
            let get = Get(path: server.url("/12b", port: .tls), options: .connectionTrace)
            for _ in 1...2 { #expect(try await client.run(get).statusCode == 200) }
        }
        let sessions = traces(recorder).compactMap(\.tls)
        #expect(sessions.count == 2 && sessions.first == sessions.last)
        let session = try #require(sessions.first)
        #expect(session.version == "TLSv1.3" && session.verificationError == nil && !session.isResumed)
        let certificate = try #require(session.certificates.first)
        #expect(certificate.subject == "CN=errand test valid" && certificate.issuer == "CN=errand test CA")
        #expect(certificate.names == ["DNS:localhost", "DNS:errand.test", "IP:127.0.0.1"])
        #expect(certificate.sha256.count == 64)
        let (from, to) = (try #require(certificate.notBefore), try #require(certificate.notAfter))
        #expect(from < Date() && Date() < to)
    }

    @Test func isReportedToThoseWhoAskAlone() async throws {
        let server = try Nginx.shared.get()
        let recorder = EventRecorder()
        var configuration = Client.Configuration.patient()
        configuration.accessories = [recorder]
        try await Client.with(Client(configuration: configuration)) { client in
            _ = try await client.run(Get(path: server.url("/12b")))
        }
        #expect(!recorder.names.contains("connected") && recorder.names.contains("sent"))
    }
}
