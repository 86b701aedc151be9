import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandDownloads
@testable import ErrandEngine
@testable import ErrandModel

/// Downloads on a stub: the test is the server, and the clock.
struct StubbedDownload {
    let stub = StubTransport()
    let clock = ManualClock()
    let folder: DownloadFolder
    let client: Client

    static let tag = "\"a\""

    init(_ change: (inout Client.Configuration) -> Void = { _ in }) throws {
        folder = try DownloadFolder()
        let clock = clock
        client = .stubbed(stub) { configuration in
            configuration.clock = clock
            change(&configuration)
        }
    }

    func download(_ name: String = "file.bin", _ change: (inout Download) -> Void = { _ in }) -> Download {
        var download = Download("content", to: .file(folder.path + "/" + name))
        change(&download)
        return download
    }

    func start(_ change: (inout Download) -> Void = { _ in }) -> Request<Download> {
        client.start(download("file.bin", change))
    }

    /// To a name of the server's, in that folder, and to another where that is taken.
    func startNamed() -> Request<Download> {
        start {
            $0.destination = .directory(folder.path)
            $0.overwrite = .number
        }
    }

    /// The first start is refused before anything is sent; by number there is another name.
    func expectNameTaken() async throws {
        #expect(await start().failure() == .fileExists)
        #expect(stub.submitted.isEmpty)
        let numbered = start { $0.overwrite = .number }
        try await serve(1, total: 10)
        #expect(try await numbered.ended().get().path == folder.path + "/file (1).bin")
    }

    /// The transfer that was submitted as the n-th, from 1, once it was.
    func transfer(_ number: Int) async throws -> (id: TransferID, asked: RequestDescription) {
        try await waitUntil("\(number) transfers were submitted") { stub.submitted.count >= number }
        return (TransferID(rawValue: UInt64(number)), stub.submitted[number - 1])
    }

    func head(_ statusCode: Int, _ range: Range<Int>? = nil, total: Int, tag: String? = tag) -> Response {
        var fields = HTTPFields()
        fields[.eTag] = tag
        fields[.acceptRanges] = "bytes"
        fields[.contentLength] = String(range?.count ?? total)
        if let range { fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)" }
        return Response(statusCode: statusCode, headers: fields)
    }

    func send(_ head: Response, to id: TransferID) { stub.send(.head(head), to: id) }

    func send(_ range: Range<Int>, to id: TransferID) {
        stub.sendChunk(DownloadContent.bytes(Int64(range.lowerBound)..<Int64(range.upperBound)), to: id)
    }

    /// Answers the n-th transfer with a range, or all of it.
    func serve(_ number: Int, _ range: Range<Int>? = nil, total: Int, tag: String? = tag) async throws {
        let (id, _) = try await transfer(number)
        send(head(range == nil ? 200 : 206, range, total: total, tag: tag), to: id)
        let all = range ?? 0..<total
        for start in stride(from: all.lowerBound, to: all.upperBound, by: 16 << 10) {
            send(start..<min(start + 16 << 10, all.upperBound), to: id)
        }
        stub.end(id)
    }

    func fail(_ id: TransferID, _ error: ErrandError = .receiveFailed) { stub.complete(id, with: .failure(error)) }

    /// Once so much was written.
    func written(_ count: Int, of name: String = "file.bin") async throws {
        try await waitUntil("\(count) bytes are in \(name).part") { folder.bytes(name + ".part")?.count ?? 0 >= count }
    }

    func granted(_ count: Int, to id: TransferID) async throws {
        try await waitUntil("\(count) bytes of credit were granted") { stub.granted(to: id) >= count }
    }

    /// Once the download has done all that it was told so far.
    func settled(_ request: Request<Download>) async throws {
        try await #require(request.ownCarrier as? DownloadCarrier).settled()
    }

    /// The next timer goes off.
    func advance(_ time: Duration) async {
        await clock.sleepers(1)
        clock.advance(by: time)
    }

    func journal(_ name: String = "file.bin") throws -> DownloadJournal? {
        try DownloadDirectory(folder.paths(name)).readJournal()
    }

    func isContent(_ count: Int, _ name: String = "file.bin") -> Bool {
        folder.bytes(name) == DownloadContent.bytes(0..<Int64(count))
    }

    static func hash(_ count: Int) -> String {
        SHA256.hex(SHA256.digest(of: DownloadContent.bytes(0..<Int64(count))) ?? [])
    }
}

extension Request {
    /// What it ends with, once it has, whether it was stopped or not.
    func ended() async -> Result<C.Response, ErrandError> {
        do {
            try await waitUntil("the download has a result and is at rest") { result != nil && isAtRest }
        } catch {
            Issue.record(error)
        }
        return result ?? .failure(.cancelled)
    }

    func failure() async -> ErrandError? {
        if case .failure(let error) = await ended() { return error }
        return nil
    }
}

extension RequestDescription {
    var range: String? { headers[.range] }
}
