import Errand
import FoundationEssentials
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Ask: Command {
    var method = HTTPRequest.Method.post
    var path = "http://h/p"
    var headers = HTTPFields()
    var body = RequestBody.empty
}

@Suite struct MultipartTests {
    private func built(_ body: RequestBody) throws(ErrandError) -> RequestDescription {
        try RequestBuilder(Client.Configuration()).description(of: Ask(body: body))
    }

    private func boundary(_ description: RequestDescription) -> String {
        String(description.headers[.contentType]?.split(separator: "boundary=").last ?? "")
    }

    @Test func partsInMemoryAreBytes() throws {
        let description = try built(
            .multipart {
                MultipartPart.string("ü", name: "text")
                if true { MultipartPart.bytes([0, 13, 10, 255], name: "bytes", fileName: "a.PNG") }
                for index in 0..<2 { MultipartPart.data(Data([UInt8(index)]), name: "n\(index)", contentType: "a/b") }
                MultipartPart.raw(headers: [.init("X-Part")!: "1"], body: [])
            })
        let parsed = try #require(ParsedMultipart(description.bodyBytes, boundary: boundary(description)))
        #expect(
            parsed.parts.map(\.headers) == [
                [#"Content-Disposition: form-data; name="text""#],
                [#"Content-Disposition: form-data; name="bytes"; filename="a.PNG""#, "Content-Type: image/png"],
                [#"Content-Disposition: form-data; name="n0""#, "Content-Type: a/b"],
                [#"Content-Disposition: form-data; name="n1""#, "Content-Type: a/b"],
                ["X-Part: 1"],
            ])
        #expect(parsed.parts.map(\.body) == [Array("ü".utf8), [0, 13, 10, 255], [0], [1], []])
    }

    /// The same parts are the same bytes, as caches need it; others have another boundary.
    @Test func theBoundaryIsAFNetworkingsButOfTheParts() throws {
        let body = RequestBody.multipart([.string("x", name: "a")])
        let descriptions = try [built(body), built(body), built(.multipart([.string("y", name: "a")]))]
        for description in descriptions {
            let boundary = boundary(description)
            #expect(boundary.hasPrefix("Boundary+") && boundary.utf8.count == 9 + 32)
            #expect(boundary.dropFirst(9).allSatisfy { $0.isHexDigit })
            #expect(description.headers[.contentType] == "multipart/form-data; boundary=\(boundary)")
        }
        #expect(boundary(descriptions[0]) == boundary(descriptions[1]))
        #expect(boundary(descriptions[0]) != boundary(descriptions[2]))
    }

    @Test func theBoundaryOfWhatIsNotInMemoryIsAnotherEachTime() throws {
        let body = RequestBody.multipart([.file("/etc/hostname", name: "a")])
        #expect(boundary(try built(body)) != boundary(try built(body)))
    }

    @Test func ownBoundaries() throws {
        func type(_ boundary: String) throws -> String? {
            try built(.multipart([.string("x", name: "a")], boundary: boundary)).headers[.contentType]
        }
        #expect(try type("abc") == "multipart/form-data; boundary=abc")
        #expect(try type("a b:c") == #"multipart/form-data; boundary="a b:c""#)
        for bad in ["", "a ", "ü", "a\"b", "a\r\nb", String(repeating: "a", count: 71)] {
            #expect(throws: ErrandError.invalidBody) { try type(bad) }
        }
    }

    @Test(arguments: [
        ("a\"b", "a%22b"), ("a\r\nX: y", "a%0D%0AX: y"), ("a%22b", "a%22b"), ("ü 😀", "ü 😀"), ("a\\b", "a\\b"), ("", ""),
    ])
    func namesAreEscapedAsByBrowsers(name: String, expected: String) throws {
        let description = try built(.multipart([.string("x", name: name), .bytes([1], name: "f", fileName: name)]))
        let parsed = try #require(ParsedMultipart(description.bodyBytes, boundary: boundary(description)))
        #expect(parsed.parts[0].headers == ["Content-Disposition: form-data; name=\"\(expected)\""])
        #expect(parsed.parts[1].headers.first == "Content-Disposition: form-data; name=\"f\"; filename=\"\(expected)\"")
    }

    @Test func fieldsCannotBeSmuggledIn() {
        for part in [
            MultipartPart.string("x", name: "a", contentType: "text/plain\r\nX-Evil: 1"), .string("x", name: "a\0b"),
        ] {
            #expect(throws: ErrandError.invalidHeader) { try built(.multipart([part])) }
        }
    }

    @Test func withoutPartsItIsAPlainRequest() throws {
        let description = try built(.multipart([]))
        guard case .none = description.body else {
            Issue.record("an empty multipart body is sent")
            return
        }
        #expect(description.headers[.contentType] == nil)
    }

    @Test func filesAndStreamsKeepTheLengthExact() async throws {
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = try TemporaryFile(content)
        let description = try built(
            .multipart {
                MultipartPart.string("first", name: "a")
                MultipartPart.file(file.path, name: "file")
                MultipartPart.stream(length: 5, name: "stream", fileName: "s.json") {
                    AsyncStream<[UInt8]> { continuation in
                        for chunk in [[1, 2], [], [3, 4, 5]] as [[UInt8]] { continuation.yield(chunk) }
                        continuation.finish()
                    }
                }
                MultipartPart.file(file.path, name: "again", fileName: "x", contentType: "a/b")
            })
        let source = try #require(description.body.source)
        #expect(source.isReplayable)
        for maximum in [1 << 20, 4096, 999] {
            let bytes = try await drained(source, maximum: maximum)
            #expect(source.length == Int64(bytes.count))
            let parsed = try #require(ParsedMultipart(bytes, boundary: boundary(description)))
            #expect(parsed.parts.map(\.body) == [Array("first".utf8), content, [1, 2, 3, 4, 5], content])
            let name = file.path.split(separator: "/").last ?? ""
            #expect(
                parsed.parts[1].headers == [
                    "Content-Disposition: form-data; name=\"file\"; filename=\"\(name)\"", "Content-Type: text/plain",
                ])
            #expect(parsed.parts[2].headers.last == "Content-Type: application/json")
            #expect(parsed.parts[3].headers.last == "Content-Type: a/b")
        }
    }

    @Test func onePartOfUnknownLengthLeavesTheWholeWithout() async throws {
        let body = RequestBody.multipart([
            .string("x", name: "a"),
            .stream(length: nil, name: "s") { AsyncStream<[UInt8]> { $0.finish() } },
        ])
        let source = try #require(try built(body).body.source)
        #expect(source.length == nil)
        let bytes = try await drained(source)
        #expect(ParsedMultipart(bytes, boundary: boundary(try built(body))) == nil, "each start has its own boundary")
    }

    @Test func aMissingFileIsFoundBeforeAnySocket() {
        #expect(throws: ErrandError.fileUnreadable) { try built(.multipart([.file("/nonexistent/x", name: "f")])) }
        #expect(throws: ErrandError.fileUnreadable) { try built(.multipart([.file("/dev/null", name: "f")])) }
        #expect(throws: ErrandError.fileUnreadable) { try built(.multipart([.file("/tmp", name: "f")])) }
        #expect(throws: ErrandError.invalidBody) { try built(.multipart([.file("a\0b", name: "f", fileName: "x")])) }
    }

    @Test(arguments: [1, 3, 5])
    func aStreamThatGivesAnotherLengthFails(count: Int) async throws {
        let body = RequestBody.multipart([
            .stream(length: 2, name: "s") {
                AsyncStream<[UInt8]> { continuation in
                    for index in 0..<count { continuation.yield([UInt8(index)]) }
                    continuation.finish()
                }
            }
        ])
        let source = try #require(try built(body).body.source)
        await #expect(throws: ErrandError.invalidBody) { try await drained(source) }
    }

    @Test(arguments: [
        ("a.txt", "text/plain"), ("a.tar.GZ", "application/gzip"), ("a", "application/octet-stream"),
        (".json", "application/octet-stream"), ("a.", "application/octet-stream"), ("ü.webp", "image/webp"),
    ])
    func typesByExtension(name: String, expected: String) {
        #expect(FileExtensions.mediaType(ofFileNamed: name) == expected)
    }

    @Test(arguments: [HTTPRequest.Method.get, .put, .patch, .delete])
    func anyMethodCarriesParts(method: HTTPRequest.Method) throws {
        let ask = Ask(method: method, body: .multipart([.string("x", name: "a")]))
        let description = try RequestBuilder(Client.Configuration()).description(of: ask)
        #expect(!description.bodyBytes.isEmpty && description.method == method)
    }
}
