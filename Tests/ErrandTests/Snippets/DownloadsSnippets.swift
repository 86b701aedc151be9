import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// The code of the guide "Downloading" and of the section of docs/tour.md; GuideTests compares it line by line. What says
/// `/var/tmp` is compiled; what may be anywhere is run.
@Suite struct DownloadsSnippets {
    struct GetExport: Command {
        var path: String { "files/export" }
        var authorization: Authorization? { .bearer("secret") }
        var timeouts: Timeouts? { Timeouts(idle: .seconds(30)) }
    }

    static func file(_ client: Client, _ expected: String) async throws {
        var download = Download("files/report.pdf", to: .file("/var/tmp/report.pdf"))
        download.sha256 = expected
        let file = try await client.run(download)
        print(file.path, file.byteCount, file.resumedFrom)
    }

    static func directory(_ client: Client) async throws {
        var export = Download(GetExport(), to: .directory("/var/tmp"))
        export.overwrite = .number
        export.computesSHA256 = true
        let saved = try await client.run(export)
        print(saved.path, saved.sha256 ?? "")
    }

    static func interrupted(_ client: Client, _ download: Download) -> Request<Download> {
        let request = client.start(download)
        request.stop()  // or the process ends
        request.start()  // goes on
        return request
    }

    static func pace(_ download: inout Download) {
        download.ranges = 4  // connections
        download.rateLimit = 2_000_000  // bytes a second, over all of them
    }

    static func many(_ client: Client, _ names: [String]) async throws {
        let downloads = names.map { Download("files/\($0)", to: .directory("/var/tmp")) }
        let files = try await client.run(Batch(downloads, policy: .collectAll, maxConcurrent: 4))
        print(files.values.count, files.failures.count)
    }

    static func progress(_ request: AnyRequest) {
        request.onProgress { progress in
            print(progress.bytesReceived, progress.bytesToReceive ?? 0)
        }
    }

    static func unfinished() throws {
        for left in try Downloads.unfinished(in: "/var/tmp") {
            print(left.path, left.byteCount, left.length ?? 0, left.lastWritten, left.isRunning)
        }
        try Downloads.clean(in: "/var/tmp", olderThan: .seconds(7 * 86_400))
    }

    static func readme(_ client: Client, _ expected: String) async throws {
        var iso = Download("images/debian.iso", to: .directory("/var/tmp"))
        iso.sha256 = expected
        iso.ranges = 4
        let saved = try await client.run(iso)  // stopped or killed: the same line goes on
        print(saved.path, saved.byteCount, saved.resumedFrom)
    }

    @Test func aDownload() async throws {
        let stub = StubTransport { _ in .response(status: 200, headers: [.eTag: "\"a\""], body: "report") }
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: stub)
        let folder = NSTemporaryDirectory() + "errand-snippets-\(UUID().uuidString)"
        var download = Download("files/report.pdf", to: .file(folder + "/report.pdf"))
        download.createsDirectories = true
        Self.pace(&download)
        let request = client.request(download)
        Self.progress(request)
        request.start()
        await client.shutdown()
        #expect(try request.result?.get().byteCount == 6)
        #expect(FileManager.default.contents(atPath: folder + "/report.pdf") == Data("report".utf8))
        try FileManager.default.removeItem(atPath: folder)
    }
}
