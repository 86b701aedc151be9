import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

@testable import ErrandDownloads
@testable import ErrandModel

/// Downloads from real servers, and from one that misbehaves.
@Suite(.timeLimit(.minutes(20))) struct DownloadTests {
    final class Folder {
        let path = NSTemporaryDirectory() + "errand-downloads-\(UUID().uuidString)"

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func bytes(_ name: String) -> [UInt8]? {
            FileManager.default.contents(atPath: path + "/" + name).map(Array.init)
        }

        var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
    }

    private static func run(
        _ folder: Folder, _ download: Download, _ change: (inout Client.Configuration) -> Void = { _ in }
    ) async throws -> DownloadedFile {
        try await Client.with(try Nginx.client(change)) { try await $0.run(download) }
    }

    private static func ok(_ body: String, length: Int? = nil, _ fields: String = "") -> String {
        "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nAccept-Ranges: bytes\r\n\(fields)"
            + "Content-Length: \(length ?? body.utf8.count)\r\n\r\n\(body)"
    }

    private static func part(_ body: String, from start: Int, of total: Int) -> String {
        "HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Length: \(body.utf8.count)\r\n"
            + "Content-Range: bytes \(start)-\(start + body.utf8.count - 1)/\(total)\r\n\r\n\(body)"
    }

    @Test(arguments: [NginxServer.Port.http, .tls], [1, 3]) func fromNginx(
        port: NginxServer.Port, ranges: Int
    ) async throws {
        let nginx = try Nginx.shared.get()
        let folder = try Folder()
        let name = "three-\(port.rawValue)-\(ranges)"
        let content = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try Data(content).write(to: URL(fileURLWithPath: nginx.directory + "/www/" + name))
        var command = RawCommand(url: nginx.url("/files/" + name, port: port, host: "localhost"))
        var connection = ConnectionOptions()
        connection.tls.caFile = .value(nginx.certificateAuthorityPath)
        command.connection = connection
        var download = Download(command, to: .directory(folder.path))
        download.ranges = ranges
        download.computesSHA256 = true
        let file = try await Self.run(folder, download)
        #expect(file.byteCount == 5_000_000 && file.path == folder.path + "/" + name)
        #expect(file.sha256 == SHA256.hex(SHA256.digest(of: content) ?? []))
        #expect(folder.bytes(name) == content && folder.names == [name])
    }

    @Test func withCredentialsAndRedirects() async throws {
        let folder = try Folder()
        var command = RawCommand(url: "auth/basic/1k", headers: [.authorization: "Basic YWRhOnNlY3JldA=="])
        let file = try await Self.run(folder, Download(command, to: .file(folder.path + "/a")))
        #expect(file.byteCount == 1024)
        command = RawCommand(url: "redirect")
        #expect(try await Self.run(folder, Download(command, to: .directory(folder.path))).path == folder.path + "/12b")
        command.redirects = .doNotFollow
        let refused = Download(command, to: .file(folder.path + "/b"))
        await #expect(throws: ErrandError.statusNotAccepted) { try await Self.run(folder, refused) }
        command = RawCommand(url: "gzip/64k")
        // It is asked not to, and does not.
        #expect(try await Self.run(folder, Download(command, to: .file(folder.path + "/c"))).byteCount == 65_536)
        #expect(folder.names == ["12b", "a", "c"])
    }

    /// Reset in the middle, then closed, then all there: one run, and each byte asked for once.
    @Test func brokenTwice() async throws {
        let server = try ScriptedServer()
        let folder = try Folder()
        let text = String(repeating: "0123456789", count: 30_000)
        func tail(_ start: Int) -> String { String(text.dropFirst(start)) }
        try server.on("/a", [.send(Self.ok(String(text.prefix(100_000)), length: 300_000)), .close])
        let half = Self.part(tail(100_000), from: 100_000, of: 300_000).dropLast(100_000)
        try server.on("/a", [.send(String(half)), .close])
        try server.on("/a", [.send(Self.part(tail(200_000), from: 200_000, of: 300_000))])
        var download = Download(server.url("/a"), to: .file(folder.path + "/a"))
        download.retry.firstDelay = .milliseconds(10)
        let file = try await Self.run(folder, download)
        #expect(file.byteCount == 300_000 && folder.bytes("a") == Array(text.utf8))
        let asked = server.requests
        #expect(asked.map { $0.values(of: "range") } == [[], ["bytes=100000-"], ["bytes=200000-"]])
        #expect(asked.map { $0.values(of: "if-range") } == [[], ["\"a\""], ["\"a\""]])
        #expect(asked.allSatisfy { $0.values(of: "accept-encoding") == ["identity"] })
    }

    /// It says that it has ranges, and answers each with the whole: one connection brings what several never would.
    @Test func aServerThatOnlySaysThatItHasRanges() async throws {
        let server = try ScriptedServer()
        let folder = try Folder()
        let text = String(repeating: "0123456789abcdef", count: 150_000)
        try server.on("/a", [.send(Self.ok(text))])
        var download = Download(server.url("/a"), to: .file(folder.path + "/a"))
        download.ranges = 4
        let file = try await Self.run(folder, download)
        #expect(file.byteCount == 2_400_000 && folder.bytes("a") == Array(text.utf8))
        // Shared once, then from zero, after one of the ranges was answered. The server may see the other ranges, which are
        // given up, after the request from zero.
        let asked = server.requests.map { $0.values(of: "range") }
        #expect(asked.filter(\.isEmpty).count == 2 && asked.first == [] && asked.dropFirst().first?.isEmpty == false)
        #expect(folder.names == ["a"])
    }

    @Test func serversThatLie() async throws {
        let server = try ScriptedServer()
        let folder = try Folder()
        try server.on("/part", [.send(Self.part("xyz", from: 3, of: 6))])
        try server.on("/short", [.send(Self.ok("xyz", length: 9)), .close])
        try server.on("/garbage", [.send("what?\r\n\r\n"), .close])
        for (path, error) in [
            ("/part", ErrandError.malformedResponse), ("/garbage", .malformedResponse),
        ] {
            let download = Download(server.url(path), to: .file(folder.path + "/file"))
            await #expect(throws: error) { try await Self.run(folder, download) }
            #expect(folder.names.isEmpty)
        }
        var short = Download(server.url("/short"), to: .file(folder.path + "/file"))
        short.retry.maximumFailures = 0
        await #expect(throws: ErrandError.partialBody) { try await Self.run(folder, short) }
        #expect(try Downloads.unfinished(in: folder.path).map(\.byteCount) == [3])
    }

    /// A slow server is paused, and goes on; what is asked for to be slow is, too.
    @Test func pausedAndResumed() async throws {
        let folder = try Folder()
        try await Client.with(try Nginx.client()) { client in
            let request = client.request(Download("slow/1m", to: .file(folder.path + "/a")))
            request.onProgress { [weak request] progress in
                guard progress.bytesReceived > 0, progress.bytesReceived < 900_000, let request else { return }
                request.pause()
                request.resume()
            }
            #expect(request.start())
            try await waitUntil("the request has a result") { request.result != nil }
            #expect(try request.result?.get().byteCount == 1_048_576)
        }
    }

    /// A file system that has no room; with room the same download is complete.
    @Test func aFullDisk() async throws {
        let folder = try Folder()
        func mount(_ arguments: [String]) throws -> Bool {
            try ProgramRun("/bin/mount", arguments + [folder.path]).wait(seconds: 120) == 0
        }
        guard geteuid() == 0, try mount(["-t", "tmpfs", "-o", "size=600k", "tmpfs"]) else { return }
        defer { _ = try? ProgramRun("/bin/umount", ["-l", folder.path]).wait(seconds: 120) }
        let server = try ScriptedServer()
        let text = String(repeating: "0123456789abcdef", count: 62_500)
        // Without a length, so that it is noticed when the disk is full and not before.
        try server.on(
            "/a", [.send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nConnection: close\r\n\r\n" + text), .close])
        let download = Download(server.url("/a"), to: .file(folder.path + "/a"))
        await #expect(throws: ErrandError.diskFull) { try await Self.run(folder, download) }
        #expect(try mount(["-o", "remount,size=16m"]))
        let kept = try #require(try Downloads.unfinished(in: folder.path).first).byteCount
        // What fitted, but for the chunk that did not and what the journal needs.
        #expect(kept > 300_000)
        try server.on("/a", [.send(Self.part(String(text.dropFirst(Int(kept))), from: Int(kept), of: 1_000_000))])
        let file = try await Self.run(folder, download)
        #expect(file.resumedFrom == kept && folder.bytes("a") == Array(text.utf8))
        // Where the length is told, it is known before.
        try server.on("/b", [.send(Self.ok("", length: 1 << 30)), .stall])
        let large = Download(server.url("/b"), to: .file(folder.path + "/b"))
        await #expect(throws: ErrandError.diskFull) { try await Self.run(folder, large) }
    }
}
