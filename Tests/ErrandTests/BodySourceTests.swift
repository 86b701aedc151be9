import Errand
import FoundationEssentials
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Ask: Command {
    var path = "http://h/p"
    var method: HTTPRequest.Method { .post }
    var body: RequestBody
}

private struct Broken: Error, Equatable {}

@Suite struct BodySourceTests {
    private func built(_ body: RequestBody) throws(ErrandError) -> RequestDescription {
        try RequestBuilder(Client.Configuration()).description(of: Ask(body: body))
    }

    private static let content = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 / 7) }

    @Test(arguments: [(0, nil), (100, nil), (0, 10), (599_990, 10), (600_000, nil), (5, 0)] as [(UInt64, Int64?)])
    func stretchesOfFiles(offset: UInt64, length: Int64?) async throws {
        let file = try TemporaryFile(Self.content)
        let source = try FileBodySource(path: file.path, offset: offset, length: length)
        let end = length.map { Int(offset) + Int($0) } ?? Self.content.count
        let expected = Array(Self.content[Int(offset)..<end])
        #expect(source.length == Int64(expected.count))
        #expect(try await drained(source, maximum: 1 << 20) == expected)
        #expect(try await drained(source, maximum: 70_001) == expected)
    }

    @Test func stretchesBeyondTheEndAreRefused() throws {
        let file = try TemporaryFile([1, 2, 3])
        for (offset, length) in [(4, nil), (0, 4), (3, 1), (UInt64.max, nil), (0, -1)] as [(UInt64, Int64?)] {
            #expect(throws: ErrandError.invalidBody) {
                try FileBodySource(path: file.path, offset: offset, length: length)
            }
        }
    }

    @Test func aFileThatShrinksOrGoes() async throws {
        var file: TemporaryFile? = try TemporaryFile(Self.content)
        let path = try #require(file?.path)
        let source = try FileBodySource(path: path)
        let reader = try source.open()
        _ = try await reader.next(maximum: 100)
        try Data([1]).write(to: URL(filePath: path))
        // Written in place or by a new file, the opened one gives no more than it has.
        #expect(throws: ErrandError.invalidBody) { try source.open() }
        reader.close()
        file = nil
        #expect(throws: ErrandError.fileUnreadable) { try source.open() }
    }

    @Test func sequencesAreCutToWhatIsAskedFor() async throws {
        let body = RequestBody.stream(length: 600_000) {
            AsyncStream<ArraySlice<UInt8>> { continuation in
                continuation.yield(Self.content[..<1])
                continuation.yield([])
                continuation.yield(Self.content[1...])
                continuation.finish()
            }
        }
        let description = try built(body)
        let source = try #require(description.body.source)
        #expect(source.isReplayable && source.length == 600_000)
        #expect(description.headers[.contentType] == "application/octet-stream")
        #expect(try await drained(source, maximum: 1000) == Self.content)
        #expect(try await drained(source, maximum: 1 << 20) == Self.content)
    }

    @Test func aSequenceThatIsReadOnce() async throws {
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data([1, 2]))
        continuation.finish()
        let source = try #require(try built(.stream(stream, length: 2)).body.source)
        #expect(!source.isReplayable)
        #expect(try await drained(source) == [1, 2])
        #expect(throws: ErrandError.uploadNotReplayable) { try source.open() }
    }

    @Test(arguments: [0, 1, 3, 4])
    func lengthsAreChecked(length: Int64) async throws {
        let body = RequestBody.stream(length: length) {
            AsyncStream<[UInt8]> { continuation in
                continuation.yield([1])
                continuation.yield([2])
                continuation.finish()
            }
        }
        let source = try #require(try built(body).body.source)
        await #expect(throws: ErrandError.invalidBody) { try await drained(source) }
        #expect(throws: ErrandError.invalidBody) {
            try built(.stream(length: -1 - length) { AsyncStream<[UInt8]> { $0.finish() } })
        }
    }

    @Test func errorsOfSequencesComeThrough() async throws {
        let body = RequestBody.stream {
            AsyncThrowingStream<[UInt8], any Error> { continuation in
                continuation.yield([1])
                continuation.finish(throwing: Broken())
            }
        }
        let source = try #require(try built(body.gzipped()).body.source)
        await #expect(throws: Broken.self) { try await drained(source) }
        let failing = RequestBody.stream { () throws -> AsyncStream<[UInt8]> in throw Broken() }
        let unopened = try #require(try built(failing).body.source)
        #expect(throws: Broken.self) { try unopened.open() }
    }

    @Test func nothingIsReadBeforeItIsAskedFor() async throws {
        let asked = Notes<Int>()
        let body = RequestBody.stream {
            AsyncStream<[UInt8]>(unfolding: {
                asked.add(1)
                return asked.all.count > 3 ? nil : [0]
            })
        }
        let source = try #require(try built(body).body.source)
        let reader = try source.open()
        #expect(asked.all.isEmpty)
        _ = try await reader.next(maximum: 10)
        #expect(asked.all.count == 1)
        reader.close()
    }

    // MARK: Compression

    @Test(arguments: [1, 6, 9])
    func bodiesInMemoryAreCompressedAtOnce(level: Int) throws {
        for body in [RequestBody.bytes(Self.content), .data(Data(Self.content))] {
            let description = try built(body.gzipped(level: level))
            #expect(gunzipped(description.bodyBytes) == Self.content)
            #expect(description.bodyBytes.count < Self.content.count / 10)
            #expect(description.headers[.contentEncoding] == "gzip")
        }
        let empty = try built(RequestBody.bytes([]).gzipped(level: level))
        #expect(gunzipped(empty.bodyBytes) == [])
        let noise = (0..<200_000).map { _ in UInt8.random(in: 0...255) }
        #expect(gunzipped(try built(RequestBody.bytes(noise).gzipped(level: level)).bodyBytes) == noise)
        #expect(gunzipped(try built(RequestBody.json(["a": 1]).gzipped()).bodyBytes) == Array(#"{"a":1}"#.utf8))
    }

    @Test func sourcesAreCompressedOnTheWay() async throws {
        let file = try TemporaryFile(Self.content)
        for body in [
            RequestBody.file(file.path, offset: 1), .multipart([.file(file.path, name: "f")], boundary: "B"),
        ] {
            let source = try #require(try built(body.gzipped()).body.source)
            #expect(source.length == nil && source.isReplayable)
            for maximum in [10, 1 << 20] {
                let bytes = try #require(gunzipped(try await drained(source, maximum: maximum)))
                #expect(
                    bytes.elementsEqual(Self.content.dropFirst())
                        || ParsedMultipart(bytes, boundary: "B")?.parts.first?.body == Self.content)
            }
        }
        #expect(throws: ErrandError.fileUnreadable) { try built(RequestBody.file("/nonexistent").gzipped()) }
    }

    /// A plain file, a part and a compressed one are refused alike, by name.
    @Test func filesThatCannotBeSentAreNamed() throws {
        let file = try TemporaryFile([1, 2, 3])
        let table: [(String, UInt64, Int64?, ErrandError, String)] = [
            ("/nonexistent/x", 0, nil, .fileUnreadable, "/nonexistent/x cannot be read"),
            ("/tmp", 0, nil, .fileUnreadable, "/tmp is not a regular file"),
            ("/dev/null", 0, nil, .fileUnreadable, "/dev/null is not a regular file"),
            (file.path, 4, nil, .invalidBody, "\(file.path) has 3 bytes; all from offset 4 cannot"),
            (file.path, 1, 3, .invalidBody, "\(file.path) has 3 bytes; 3 bytes from offset 1 cannot"),
            (file.path, .max, nil, .invalidBody, "\(file.path)"), (file.path, 0, -1, .invalidBody, "\(file.path)"),
        ]
        for (path, offset, length, expected, message) in table {
            for isZipped in [false, true] {
                let body = RequestBody.file(path, offset: offset, length: length)
                do throws(ErrandError) {
                    _ = try built(isZipped ? body.gzipped() : body)
                    Issue.record("\(path) was taken")
                } catch {
                    #expect(error == expected && error.message.contains(message), "\(error)")
                }
            }
        }
        guard case .file(_, 1, 2) = try built(.file(file.path, offset: 1)).body else {
            return #expect(Bool(false), "the length is not that of the file")
        }
    }

    @Test func aFileThatShrinks() async throws {
        let file = try TemporaryFile([UInt8](repeating: 1, count: 1000))
        let source = try #require(try built(.multipart([.file(file.path, name: "f")])).body.source)
        let reader = try source.open()
        defer { reader.close() }
        _ = try await reader.next(maximum: 4096)
        _ = try await reader.next(maximum: 100)
        try Data([1]).write(to: URL(filePath: file.path), options: [])
        await #expect(throws: ErrandError.uploadFailed) {
            while try await reader.next(maximum: 100) != nil {}
        }
        await #expect(throws: ErrandError.invalidBody) { try await drained(source) }
    }

    @Test(arguments: [0, 10, -1, Int.max])
    func levelsThatGzipDoesNotHave(level: Int) throws {
        let file = try TemporaryFile([1])
        #expect(throws: ErrandError.invalidOption) { try built(RequestBody.string("x").gzipped(level: level)) }
        #expect(throws: ErrandError.invalidOption) { try built(RequestBody.file(file.path).gzipped(level: level)) }
    }

    @Test func compressedTwiceIsNamedTwice() throws {
        let description = try built(RequestBody.string("x").gzipped().gzipped())
        #expect(description.headers[.contentEncoding] == "gzip, gzip")
        #expect(gunzipped(gunzipped(description.bodyBytes) ?? []) == Array("x".utf8))
    }

    // MARK: Encoders

    @Test func customEncoders() throws {
        let description = try built(.custom(contentType: "application/x-mine") { [1, 2] })
        #expect(description.bodyBytes == [1, 2] && description.headers[.contentType] == "application/x-mine")
        do throws(ErrandError) {
            _ = try built(.custom(contentType: nil) { throw Broken() })
            Issue.record("the encoder's error was lost")
        } catch {
            #expect(error == .requestEncodingFailed && error.underlyingError is Broken)
        }
    }

    @Test func propertyLists() throws {
        let description = try built(.propertyList(["a": 1]))
        #expect(description.headers[.contentType] == "application/x-plist")
        #expect(try PropertyListDecoder().decode([String: Int].self, from: Data(description.bodyBytes)) == ["a": 1])
        #expect(String(decoding: description.bodyBytes, as: UTF8.self).hasPrefix("<?xml"))
    }
}
