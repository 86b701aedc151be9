import CErrand
import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandClient
@testable import ErrandEngine

/// Files that connection options name, replaced at the same path.
@Suite struct ReplacedFileTests {
    /// A CA file of its own, and a way to replace it as programs do: by renaming another over it.
    private final class Authority {
        let path = "/tmp/errand-\(UUID().uuidString).pem"
        private let server: NginxServer

        init() throws {
            server = try Nginx.shared.get()
        }

        func become(_ name: String) throws {
            let copy = path + ".new"
            try? FileManager.default.removeItem(atPath: copy)
            try FileManager.default.copyItem(atPath: server.certificate(name), toPath: copy)
            guard rename(copy, path) == 0 else { throw POSIXError(.EIO) }
        }

        deinit {
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    @Test(arguments: [true, false])
    func reconfigureLooksAgain(isDefault: Bool) async throws {
        let url = try Nginx.shared.get().url("/12b", port: .tls)
        let authority = try Authority()
        try authority.become("ca.pem")
        let connection = ConnectionOptions(tls: .init(caFile: authority.path))
        var configuration = Client.Configuration.patient(loops: 1)
        if isDefault { configuration.connection = connection }
        try await Client.with(Client(configuration: configuration)) { client in
            let get = Get(path: url, connection: isDefault ? nil : connection, options: .freshConnection)
            #expect(try await client.run(get).statusCode == 200)
            try authority.become("selfsigned.pem")
            client.reconfigure { _ in }
            await #expect(throws: ErrandError.tlsUntrusted) { try await client.run(get) }
            try authority.become("ca.pem")
            client.reconfigure { _ in }
            #expect(try await client.run(get).statusCode == 200)
        }
    }

    /// Without being told, once the pause is over; here there is none.
    @Test(arguments: [true, false])
    func aLookNowAndThen(isDefault: Bool) async throws {
        let url = try Nginx.shared.get().url("/12b", port: .tls)
        let authority = try Authority()
        try authority.become("ca.pem")
        let connection = ConnectionOptions(tls: .init(caFile: authority.path))
        var configuration = Client.Configuration.patient(loops: 1)
        if isDefault { configuration.connection = connection }
        let transport = ReactorTransport(configuration, pause: 0)
        try await Client.with(Client(configuration, own: transport)) { client in
            let get = Get(path: url, connection: isDefault ? nil : connection, options: .freshConnection)
            #expect(try await client.run(get).statusCode == 200)
            try authority.become("selfsigned.pem")
            await #expect(throws: ErrandError.tlsUntrusted) { try await client.run(get) }
            // What is not there leaves what there was.
            try FileManager.default.removeItem(atPath: authority.path)
            await #expect(throws: ErrandError.tlsUntrusted) { try await client.run(get) }
            try authority.become("ca.pem")
            #expect(try await client.run(get).statusCode == 200)
        }
    }

    /// What was not replaced is not made anew, so kept connections stay in use.
    @Test func whatIsTheSameStays() async throws {
        let authority = try Authority()
        try authority.become("ca.pem")
        let connection = ConnectionOptions(tls: .init(caFile: authority.path))
        // Kept to the end, so that no address is used twice.
        var handles: [OpaquePointer?] = []
        defer { for handle in handles { errand_options_release(handle) } }
        let eager = OptionsCache(pause: 0)
        for _ in 1...2 { handles.append(try eager.handle(for: connection)) }
        #expect(handles[0] != nil && handles[0] == handles[1])
        try authority.become("ca.pem")
        handles.append(try eager.handle(for: connection))
        #expect(handles[2] != handles[1])
        let patient = OptionsCache(pause: 3600)
        handles.append(try patient.handle(for: connection))
        try authority.become("ca.pem")
        handles.append(try patient.handle(for: connection))
        #expect(handles[4] == handles[3])
        patient.lookSoon()
        handles.append(try patient.handle(for: connection))
        #expect(handles[5] != handles[4])
        // Without files the group's own default is good enough.
        handles.append(try patient.standardHandle(for: ConnectionOptions()))
        #expect(try patient.handle(for: nil) == nil)
    }
}
