import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandDownloads

/// Downloads of contents that a server sends with a content coding, asked or not.
@Suite(.timeLimit(.minutes(20))) struct EncodedDownloadTests {
    /// "decoded text, decoded text, decoded text."
    private static let gzip: [UInt8] = [
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4b, 0x49, 0x4d, 0xce, 0x4f, 0x49, 0x4d, 0x51,
        0x28,
        0x49, 0xad, 0x28, 0xd1, 0x51, 0x48, 0xc1, 0xc9, 0xd3, 0x03, 0x00, 0xbb, 0x90, 0xe9, 0xfe, 0x29, 0x00, 0x00,
        0x00,
    ]
    private static let text = [UInt8]("decoded text, decoded text, decoded text.".utf8)

    private static func head(_ fields: String = "", length: Int = gzip.count) -> ScriptedServer.Step {
        .send(
            "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nAccept-Ranges: bytes\r\nContent-Encoding: x-gzip\r\n\(fields)"
                + "Content-Length: \(length)\r\n\r\n")
    }

    private func with(
        _ encodings: ConnectionOptions.Encodings,
        _ body: (Client, ScriptedServer, DownloadTests.Folder) async throws -> Void
    ) async throws {
        let server = try ScriptedServer()
        let folder = try DownloadTests.Folder()
        var configuration = Client.Configuration.patient(baseURL: server.url(), loops: 1)
        configuration.connection.encodings = encodings
        try await Client.with(Client(configuration: configuration)) { try await body($0, server, folder) }
    }

    @Test(arguments: [1, 3]) func isKeptAsItCameOrDecoded(ranges: Int) async throws {
        for encodings: ConnectionOptions.Encodings in [[], .all] {
            let content = encodings.isEmpty ? Self.gzip : Self.text
            try await with(encodings) { client, server, folder in
                try server.on("/a", [Self.head(), .sendBytes(Self.gzip)])
                var download = Download("a", to: .file(folder.path + "/a"))
                download.ranges = ranges
                let file = try await client.run(download)
                #expect(file.byteCount == Int64(content.count) && file.entityTag == "\"a\"")
                #expect(folder.bytes("a") == content && folder.names == ["a"])
                #expect(server.requests.map { $0.values(of: "accept-encoding") } == [["identity"]])
            }
        }
    }

    @Test func isAskedForByName() async throws {
        try await with(.gzip) { client, server, folder in
            try server.on("/a", [Self.head(), .sendBytes(Self.gzip)])
            var download = Download("a", to: .file(folder.path + "/a"))
            download.acceptsEncodings = true
            _ = try await client.run(download)
            #expect(folder.bytes("a") == Self.text)
            #expect(server.requests.map { $0.values(of: "accept-encoding") } == [["gzip"]])
        }
    }

    /// From zero, as there is nothing that a range could be appended to.
    @Test func aBrokenOneBeginsAnew() async throws {
        try await with(.gzip) { client, server, folder in
            try server.on("/a", [Self.head(), .sendBytes(Array(Self.gzip[..<25])), .sleep(milliseconds: 20), .close])
            try server.on("/a", [Self.head(), .sendBytes(Self.gzip)])
            var download = Download("a", to: .file(folder.path + "/a"))
            download.retry.firstDelay = .milliseconds(10)
            let file = try await client.run(download)
            #expect(file.resumedFrom == 0 && folder.bytes("a") == Self.text)
            #expect(server.requests.map { $0.values(of: "range") } == [[], []])
        }
    }

    /// Within its length: what came is no whole content.
    @Test func oneThatEndsTooEarlyIsAnError() async throws {
        try await with(.gzip) { client, server, folder in
            try server.on("/a", [Self.head(length: 30), .sendBytes(Array(Self.gzip[..<30]))])
            let download = Download("a", to: .file(folder.path + "/a"))
            await #expect(throws: ErrandError.contentDecodingFailed) { try await client.run(download) }
            #expect(folder.bytes("a") == nil)
        }
    }
}
