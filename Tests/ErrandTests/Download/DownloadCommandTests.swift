import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandDownloads

/// What a download says, and what it is refused for.
@Suite(.timeLimit(.minutes(20))) struct DownloadCommandTests {
    private struct Signed: StepwiseInterceptor {
        func prepare(_ description: RequestDescription, in context: InterceptionContext) -> RequestDescription {
            var description = description
            description.url += "?signature=\(context.replays)"
            return description
        }

        func replays(after result: TransferResult, in context: InterceptionContext) -> Bool {
            result.response?.statusCode == 401
        }

        func transform(_ response: Errand.Response, in context: InterceptionContext) -> Errand.Response { response }
    }

    @Test func membersOutOfRange() async throws {
        let stubbed = try StubbedDownload()
        let changes: [(inout Download) -> Void] = [
            { $0.ranges = 0 }, { $0.ranges = 65 }, { $0.rateLimit = 0 }, { $0.expectedSize = -1 }, { $0.sha256 = "ab" },
            { $0.sha256 = String(repeating: "g", count: 64) }, { $0.retry.maximumFailures = -1 },
            { $0.retry.firstDelay = .seconds(-1) },
        ]
        for change in changes {
            let error = await stubbed.start(change).failure()
            #expect(error == .invalidArgument && error?.isRefusal == true)
        }
        var post = RawCommand(url: "content")
        post.method = .post
        let refused = stubbed.client.start(Download(post, to: .file(stubbed.folder.path + "/a")))
        #expect(await refused.failure() == .invalidArgument)
        var ranged = RawCommand(url: "content")
        ranged.headers[.range] = "bytes=0-1"
        let ranging = stubbed.client.start(Download(ranged, to: .file(stubbed.folder.path + "/a")))
        #expect(await ranging.failure() == .invalidHeader)
        #expect(stubbed.stub.submitted.isEmpty && stubbed.folder.names.isEmpty)
        await #expect(throws: ErrandError.invalidArgument) { try await stubbed.client.stream(stubbed.download()) }
        await stubbed.client.shutdown(.cancel)
    }

    @Test func itIsDescribed() throws {
        let stubbed = try StubbedDownload()
        #expect(try stubbed.client.describe(stubbed.download()).url == "http://test/content")
        var command = RawCommand(url: "content", headers: [.accept: "image/png"])
        command.options = [.coalesced, .freshConnection]
        let download = Download(command, to: .directory("/"))
        #expect(try stubbed.client.describe(download).headers[.accept] == "image/png")
        #expect(download.options == .freshConnection)
    }

    /// The option of all requests of a client is not for downloads, whose bytes go to the disk.
    @Test func noMemoryForTheBody() async throws {
        let stubbed = try StubbedDownload { $0.settings.options = .bodyMemory }
        #expect(try stubbed.client.describe(stubbed.download()).options.contains(.bodyMemory))
        let request = stubbed.start()
        let asked = try await stubbed.transfer(1).asked
        #expect(asked.options.isDisjoint(with: .bodyMemory) && asked.options.contains(.keepsEncoding))
        request.stop()
        await stubbed.client.shutdown(.cancel)
    }

    @Test func pathsAreThoseOfTheMomentOfMaking() {
        let here = FileManager.default.currentDirectoryPath
        #expect(DownloadDestination.file("a/b").absolute == .file(here + "/a/b"))
        #expect(DownloadDestination.directory(".").absolute == .directory(here))
        #expect(DownloadDestination.file("/a").absolute == .file("/a"))
    }

    @Test func missingAndForbiddenDirectories() async throws {
        let stubbed = try StubbedDownload()
        let folder = stubbed.folder.path
        func failure(_ destination: DownloadDestination) async -> ErrandError? {
            await stubbed.client.start(Download("content", to: destination)).failure()
        }
        let missing = await failure(.file(folder + "/no/file"))
        #expect(missing == .directoryMissing && missing?.isRefusal == true)
        #expect(await failure(.directory(folder + "/no")) == .directoryMissing)
        #expect(await failure(.file(folder)) == .fileIsDirectory)
        #expect(await failure(.file(folder + "/")) == .fileIsDirectory)
        #expect(await failure(.file("/proc/errand")) != nil)
        #expect(stubbed.stub.submitted.isEmpty)
        let made = stubbed.client.start(
            stubbed.download("new/and/deep/file.bin") { $0.createsDirectories = true })
        try await stubbed.serve(1, total: 10)
        #expect(try await made.ended().get().path == folder + "/new/and/deep/file.bin")
        await stubbed.client.shutdown(.cancel)
    }

    @Test func whatBecomesOfAnOldFile() async throws {
        let stubbed = try StubbedDownload()
        stubbed.folder.write([1, 2, 3], "file.bin")
        let refused = await stubbed.start { $0.overwrite = .fail }.failure()
        #expect(refused == .fileExists && refused?.isRefusal == true)
        let numbered = stubbed.start { $0.overwrite = .number }
        try await stubbed.serve(1, total: 10)
        #expect(try await numbered.ended().get().path == stubbed.folder.path + "/file (1).bin")
        #expect(stubbed.folder.bytes("file.bin") == [1, 2, 3])
        let replaced = stubbed.start()
        let (id, _) = try await stubbed.transfer(2)
        stubbed.send(stubbed.head(200, total: 20), to: id)
        stubbed.send(0..<19, to: id)
        try await stubbed.granted(19, to: id)
        // The old one is there until the new one is whole.
        #expect(stubbed.folder.bytes("file.bin") == [1, 2, 3])
        stubbed.send(19..<20, to: id)
        stubbed.stub.end(id)
        _ = try await replaced.ended().get()
        #expect(stubbed.isContent(20))
        await stubbed.client.shutdown(.cancel)
    }

    @Test func oneDownloadWritesAFile() async throws {
        let stubbed = try StubbedDownload()
        let first = stubbed.start()
        let (id, _) = try await stubbed.transfer(1)
        #expect(await stubbed.start().failure() == .fileLocked)
        stubbed.send(stubbed.head(200, total: 5), to: id)
        stubbed.send(0..<5, to: id)
        stubbed.stub.end(id)
        #expect(try await first.ended().get().byteCount == 5)
        await stubbed.client.shutdown(.cancel)
    }

    @Test func namesByTheResponse() async throws {
        let stubbed = try StubbedDownload()
        let directory = DownloadDestination.directory(stubbed.folder.path)
        for (header, name) in [
            ("attachment; filename=\"../../etc/report.pdf\"", "report.pdf"), (nil, "content"),
            ("attachment; filename*=UTF-8''na%C3%AFve.txt", "naïve.txt"),
        ] {
            let number = stubbed.stub.submitted.count + 1
            let request = stubbed.client.start(Download("a/content?x=y", to: directory))
            let (id, _) = try await stubbed.transfer(number)
            var fields = HTTPFields()
            fields[.contentDisposition] = header
            stubbed.stub.sendHead(200, fields, to: id)
            stubbed.stub.end(id)
            #expect(try await request.ended().get().path == stubbed.folder.path + "/" + name)
        }
        await stubbed.client.shutdown(.cancel)
    }

    /// A run knows what the one before has begun, though the name is the response's to tell.
    @Test func aDirectoryResumesByURL() async throws {
        let stubbed = try StubbedDownload()
        let download = Download("content", to: .directory(stubbed.folder.path))
        let request = stubbed.client.start(download)
        let (first, _) = try await stubbed.transfer(1)
        var head = stubbed.head(200, total: 100).headers
        head[.contentDisposition] = "attachment; filename=named.txt"
        stubbed.stub.sendHead(200, head, to: first)
        stubbed.send(0..<40, to: first)
        try await stubbed.granted(40, to: first)
        request.stop()
        _ = await request.ended()
        #expect(stubbed.folder.names == ["named.txt.part", "named.txt.part.journal"])
        let again = stubbed.client.start(download)
        #expect(try await stubbed.transfer(2).asked.range == "bytes=40-")
        try await stubbed.serve(2, 40..<100, total: 100)
        #expect(try await again.ended().get().path == stubbed.folder.path + "/named.txt")
        #expect(stubbed.isContent(100, "named.txt"))
        await stubbed.client.shutdown(.cancel)
    }

    /// Another URL's part is not gone on with, and of one name there are two files where both are to be kept.
    @Test func twoURLsOfOneName() async throws {
        let stubbed = try StubbedDownload()
        var downloads = ["a/name", "b/name"].map { Download($0, to: .directory(stubbed.folder.path)) }
        for index in downloads.indices { downloads[index].overwrite = .number }
        let requests = downloads.map { stubbed.client.start($0) }
        for number in [1, 2] {
            let (id, _) = try await stubbed.transfer(number)
            stubbed.send(stubbed.head(200, total: 5), to: id)
            stubbed.send(0..<5, to: id)
            try await stubbed.granted(5, to: id)
        }
        for number in [1, 2] { stubbed.stub.end(TransferID(rawValue: UInt64(number))) }
        let paths = [try await requests[0].ended().get().path, try await requests[1].ended().get().path]
        #expect(paths.sorted() == [stubbed.folder.path + "/name", stubbed.folder.path + "/name (1)"])
        await stubbed.client.shutdown(.cancel)
    }

    /// Redirects are the request's, each run goes through them anew, and what is there is kept for the first URL.
    @Test func redirectsAreFollowed() async throws {
        let stubbed = try StubbedDownload()
        let download = Download("latest", to: .directory(stubbed.folder.path))
        func run(_ hop: Int, _ range: String?) async throws -> (Request<Download>, TransferID) {
            let request = stubbed.client.start(download)
            let (redirect, asked) = try await stubbed.transfer(hop)
            #expect(asked.url == "http://test/latest" && asked.range == range)
            var fields = HTTPFields()
            fields[.location] = "/v1.tar.gz?key=\(hop)"
            stubbed.stub.sendHead(302, fields, to: redirect)
            stubbed.stub.end(redirect, 302)
            let (id, next) = try await stubbed.transfer(hop + 1)
            #expect(next.url == "http://test/v1.tar.gz?key=\(hop)" && next.range == range)
            return (request, id)
        }
        let (first, id) = try await run(1, nil)
        stubbed.send(stubbed.head(200, total: 100), to: id)
        stubbed.send(0..<40, to: id)
        try await stubbed.granted(40, to: id)
        first.stop()
        _ = await first.ended()
        #expect(try stubbed.journal("v1.tar.gz")?.url == "http://test/latest")
        let (second, _) = try await run(3, "bytes=40-")
        try await stubbed.serve(4, 40..<100, total: 100)
        #expect(try await second.ended().get().path == stubbed.folder.path + "/v1.tar.gz")
        #expect(second.attempts.count == 2 && stubbed.isContent(100, "v1.tar.gz"))
        await stubbed.client.shutdown(.cancel)
    }

    /// An interceptor signs each URL anew and is asked for replays: what is there goes on all the same.
    @Test func interceptorsActOnEachTransfer() async throws {
        let stubbed = try StubbedDownload { $0.interceptors = [Signed()] }
        let request = stubbed.start()
        let (first, asked) = try await stubbed.transfer(1)
        #expect(asked.url == "http://test/content?signature=0")
        stubbed.send(stubbed.head(200, total: 100), to: first)
        stubbed.send(0..<40, to: first)
        try await stubbed.granted(40, to: first)
        stubbed.fail(first)
        await stubbed.advance(.seconds(1))
        let (second, _) = try await stubbed.transfer(2)
        stubbed.stub.sendHead(401, to: second)
        stubbed.stub.end(second, 401)
        let (_, replayed) = try await stubbed.transfer(3)
        #expect(replayed.url == "http://test/content?signature=1" && replayed.range == "bytes=40-")
        try await stubbed.serve(3, 40..<100, total: 100)
        #expect(try await request.ended().get().byteCount == 100)
        #expect(stubbed.isContent(100))
        await stubbed.client.shutdown(.cancel)
    }

    @Test func resumingByChoice() async throws {
        let stubbed = try StubbedDownload()
        func begin(_ number: Int) async throws {
            let request = stubbed.start()
            let (id, _) = try await stubbed.transfer(number)
            stubbed.send(stubbed.head(200, total: 100, tag: "W/\"weak\""), to: id)
            stubbed.send(0..<40, to: id)
            try await stubbed.granted(40, to: id)
            request.stop()
            _ = await request.ended()
        }
        try await begin(1)
        let always = stubbed.start { $0.resumes = .always }
        let (second, asked) = try await stubbed.transfer(2)
        #expect(asked.range == "bytes=40-" && asked.headers[.ifRange] == nil)
        always.stop()
        _ = await always.ended()
        #expect(stubbed.stub.cancelled.contains(second))
        let never = stubbed.start { $0.resumes = .never }
        #expect(try await stubbed.transfer(3).asked.range == nil)
        never.stop()
        _ = await never.ended()
        try await begin(4)
        // A weak tag is nothing to join bytes by.
        let validated = stubbed.start()
        #expect(try await stubbed.transfer(5).asked.range == nil)
        try await stubbed.serve(5, total: 100)
        #expect(try await validated.ended().get().resumedFrom == 0)
        await stubbed.client.shutdown(.cancel)
    }
}
