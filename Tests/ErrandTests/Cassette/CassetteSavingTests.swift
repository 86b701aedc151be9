import Dispatch
import Errand
import Foundation
import HTTPTypes
import Testing

@testable import ErrandModel
@testable import ErrandTesting

private struct Save: Command {
    var method: HTTPRequest.Method { .post }
    var path: String { "save" }
    var body: RequestBody
    typealias Response = Errand.Response
}

/// Saving more than once, and more than one that saves; uploads that are answered before they are complete.
@Suite(.timeLimit(.minutes(20))) struct CassetteSavingTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    private func entry(_ number: Int) -> HAR.Entry {
        HAR.Entry(started: .zero, request: HAR.Sent(method: "GET", url: "http://test/\(number)"))
    }

    private func urls(_ path: String) throws -> [String] {
        try HAR(contentsOf: path).entries.map { String($0.request.url.suffix(1)) }
    }

    @Test(arguments: [Cassette.Mode.new, .all, .once]) func aSecondSaveAddsNothingTwice(mode: Cassette.Mode) throws {
        let path = folder.path + "/c.har"
        let cassette = try Cassette(path, mode: mode)
        cassette.record(entry(1))
        try cassette.save()
        try cassette.save()
        #expect(try urls(path) == ["1"])
        cassette.record(entry(2))
        try cassette.save()
        #expect(try urls(path) == ["1", "2"])
    }

    /// Otherwise another cassette could record the file before the recording is saved.
    @Test func aFailedSaveMayBeRepeated() throws {
        let path = folder.path + "/deep/c.har"
        #expect(FileManager.default.createFile(atPath: folder.path + "/deep", contents: Data()))
        let cassette = try Cassette(path, mode: .all)
        cassette.record(entry(1))
        #expect(throws: ErrandError.self) { try cassette.save() }
        let other = #expect(throws: ErrandError.self) { try Cassette(path, mode: .all) }
        #expect(other?.shortDescription == "fileLocked")
        try FileManager.default.removeItem(atPath: folder.path + "/deep")
        try cassette.save()
        #expect(try urls(path) == ["1"])
        _ = try Cassette(path, mode: .new)
    }

    @Test func aLinkIsTheSameFile() throws {
        let files = FileManager.default
        try files.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: folder.path)
        try files.createSymbolicLink(atPath: folder.path + "/d.har", withDestinationPath: "c.har")
        let first = try Cassette(folder.path + "/c.har", mode: .new)
        for name in ["link/c.har", "d.har", "link/link/d.har", "./c.har"] {
            let error = #expect(throws: ErrandError.self) { try Cassette(folder.path + "/" + name, mode: .new) }
            #expect(error?.shortDescription == "fileLocked", "\(name)")
        }
        // Another file in the same folder.
        _ = try Cassette(folder.path + "/link/e.har", mode: .new)
        withExtendedLifetime(first) {}
    }

    /// Stands for another process: the lock belongs to the open folder.
    @Test func aSaveWaitsForAnotherProcess() async throws {
        let path = folder.path + "/c.har"
        let cassette = try Cassette(path, mode: .new)
        cassette.record(entry(2))
        let lock = try FolderLock(of: path)
        let ends = Notes<String>()
        // A save blocks its thread and waits for a minute at most, and this test may get its turn later than that.
        DispatchQueue(label: "errand.test.save").async {
            while ends.all.isEmpty {
                do throws(ErrandError) {
                    try cassette.save()
                    ends.add("saved")
                } catch {
                    if error.shortDescription != "fileLocked" { ends.add(error.shortDescription) }
                }
            }
        }
        await allowTime(for: "a save beside that of another process", .milliseconds(50))
        #expect(ends.all.isEmpty && !FileManager.default.fileExists(atPath: path))
        try HAR(entries: [entry(1)]).write(to: path)
        lock.release()
        try await waitUntil("the save has ended") { !ends.all.isEmpty }
        #expect(ends.all == ["saved"])
        #expect(try urls(path) == ["1", "2"])
    }

    // MARK: Uploads

    /// Runs an upload that has one recorded exchange left, so it is answered at once. Returns the mismatches.
    private func upload(_ text: String, matching: RequestMatching = RequestMatching()) async throws
        -> [CassetteMismatch]
    {
        let path = folder.path + "/c.har"
        let recorded = HAR.Entry(
            started: .zero,
            request: HAR.Sent(
                method: "POST", url: "http://test/save", body: HAR.Body(bytes: Array("abc".utf8))),
            response: HAR.Received(
                status: 200, headers: [.contentType: "text/plain"], body: HAR.Body(bytes: Array("up".utf8))))
        try HAR(entries: [recorded]).write(to: path)
        let cassette = try Cassette(path, mode: .none, matching: matching)
        let transport = CassetteTransport(cassette, over: StubTransport())
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: transport)
        // The answer comes before the first byte is written, and the program writes what depends on it.
        let (pieces, sink) = AsyncStream<[UInt8]>.makeStream()
        let response = try await client.stream(Save(body: .stream { pieces }))
        #expect(response.statusCode == 200)
        sink.yield(Array(text.utf8))
        sink.finish()
        var received: [UInt8] = []
        for try await piece in response.body { received += piece }
        #expect(String(decoding: received, as: UTF8.self) == "up")
        await client.shutdown()
        await transport.stop()
        #expect(cassette.unused.isEmpty)
        return cassette.mismatches
    }

    @Test func theBodyOfAnAnsweredUploadIsCompared() async throws {
        #expect(try await upload("abc").isEmpty)
        let mismatches = try await upload("abd")
        #expect(mismatches.count == 1)
        let text = mismatches.first?.description ?? ""
        #expect(text.contains("was answered by entry 1") && text.contains("body at byte 2"), "\(text)")
        for text in ["abcd", "ab", ""] { #expect(try await upload(text).count == 1, "\(text)") }
        #expect(try await upload("abd", matching: RequestMatching(body: .ignored)).isEmpty)
    }
}
