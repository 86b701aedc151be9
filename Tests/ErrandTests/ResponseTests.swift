import Errand
import FoundationEssentials
import HTTPTypes
import Testing

@_spi(ErrandEngine) @testable import ErrandModel

@Suite struct ResponseTests {
    private func name(_ text: String) -> HTTPField.Name {
        HTTPField.Name(text) ?? .accept
    }

    @Test func headersAreParsedWhenRead() {
        let head = Array("HTTP/1.1 200 OK\r\nA: 1\r\nbad line\r\nb:\t two \r\nA: 3\r\nEmpty:\r\n".utf8)
        let response = Response(storage: OwnedResponseStorage(statusCode: 200, head: head, body: []))
        let fields = response.headers
        #expect(fields[values: name("a")] == ["1", "3"])
        #expect(response.header(name("B")) == "two")
        #expect(response.header(name("empty")) == "")
        #expect(response.header(name("missing")) == nil)
        #expect(fields.count == 4)
    }

    @Test(arguments: ["", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n:\r\n\r\n", "\n\n\n", "x\n:y\n"])
    func oddHeadsAreBorne(head: String) {
        let storage = OwnedResponseStorage(statusCode: 200, head: Array(head.utf8), body: [])
        #expect(Response(storage: storage).headers.isEmpty)
    }

    @Test func aBodyIsReplaced() {
        let head = Array("HTTP/1.1 299 Fine\r\nA: 1\r\nA: 2\r\n\r\n".utf8)
        var metrics = TransferMetrics()
        metrics.total = .seconds(3)
        let response = Response(
            storage: OwnedResponseStorage(
                statusCode: 299, head: head, body: [1, 2], metrics: metrics, trailers: Array("T: x\r\n".utf8)))
        let replaced = response.replacing(body: [3])
        #expect(replaced.body.bytes == [3] && replaced.statusCode == 299 && replaced.rawHead == head)
        #expect(replaced.trailers[name("T")] == "x" && replaced.metrics.total == .seconds(3))
        let other = replaced.replacing(body: [], headers: [name("B"): "3"])
        #expect(other.headers == [name("B"): "3"] && other.body.isEmpty)
        #expect(other.rawHead.starts(with: Array("HTTP/1.1 299 Fine\r\n".utf8)))
        #expect(other.trailers[name("T")] == "x" && other.metrics.total == .seconds(3))
        #expect(response.body.bytes == [1, 2] && response.headers[values: name("A")] == ["1", "2"])
    }

    @Test func latin1HeadersAreRead() {
        let head = Array("HTTP/1.1 200 OK\r\na: ".utf8) + [0xE4] + Array("\r\n".utf8)
        let response = Response(storage: OwnedResponseStorage(statusCode: 200, head: head, body: []))
        #expect(response.header(name("a")) == "ä")
        #expect(response.headers.count == 1)
    }

    @Test(
        arguments: [
            (nil, "h\u{e9}"), ("text/plain; charset=\"UTF-8\"", "h\u{e9}"), ("text/plain;charset=iso-8859-1", "hÃ©"),
        ] as [(String?, String)])
    func text(contentType: String?, expected: String) throws {
        var headers = HTTPFields()
        headers[.contentType] = contentType
        #expect(try Response(statusCode: 200, headers: headers, body: Array("h\u{e9}".utf8)).text() == expected)
    }

    @Test func textThatIsNoneIsAnError() {
        #expect(throws: ErrandError.responseDecodingFailed) {
            try Response(statusCode: 200, body: [0xFF]).text()
        }
        #expect(throws: ErrandError.responseDecodingFailed) {
            try Response(statusCode: 200, headers: [.contentType: "text/plain; charset=nonsense"]).text()
        }
    }

    /// By every way in which `Data` is written to: the response and other holders of its data see nothing of it.
    @Test(arguments: [26, 64, 1000])
    func writingIntoDataLeavesTheResponseAlone(size: Int) {
        let text = [UInt8](repeating: 97, count: size)
        let writes: [(inout Data) -> Void] = [
            { $0[0] = 90 }, { $0.append(contentsOf: [1, 2, 3]) }, { $0.replaceSubrange(0..<2, with: [65, 65]) },
            { data in data.withUnsafeMutableBytes { (bytes: UnsafeMutableRawBufferPointer) in bytes[5] = 66 } },
            { $0.resetBytes(in: 0..<3) }, { $0.removeFirst(3) },
        ]
        for write in writes {
            let response = Response(statusCode: 200, body: text)
            var mine = response.body.data
            write(&mine)
            #expect(mine != Data(text))
            #expect(response.body.bytes == text)
            let other = response.body.data
            var second = response.body.data
            write(&second)
            #expect(Array(other) == text)
            #expect(response.body.bytes == text)
        }
    }

    @Test func dataIsSharedAndOutlivesTheResponse() {
        var data: [Data] = []
        do {
            let response = Response(statusCode: 200, body: [UInt8](repeating: 98, count: 500))
            data = [response.body.data, response.body.data]
            let addresses = data.map { $0.withUnsafeBytes { $0.baseAddress } }
            #expect(addresses[0] == addresses[1])
            #expect(addresses[0] == response.body.withBytes { $0.baseAddress })
        }
        data[0][1] = 1
        #expect(Array(data[1]) == [UInt8](repeating: 98, count: 500))
        data.removeFirst()
        #expect(data[0].last == 98)
    }

    private final class Info: CacheInfo {
        let isServed = false
        let isStored = false
        let label = "uri-miss"
        func cacheStatus(behind fields: String?) -> String { "errand; fwd=uri-miss" }
    }

    /// A cache marks the response of each request that shares a transfer: one memory, and one `Data` over it.
    @Test func markedResponsesShareOneData() {
        let text = [UInt8](repeating: 97, count: 500)
        var data: Data
        let other: Response
        do {
            let response = Response(statusCode: 200, body: text)
            let marked = response.marked(Info())
            other = response.marked(Info())
            data = marked.body.data
            let place = data.withUnsafeBytes { $0.baseAddress }
            #expect(place == other.body.withBytes { $0.baseAddress })
        }
        data[0] = 90
        #expect(other.body.bytes == text)
        let mine = other.body.data
        data[1] = 91
        #expect(Array(mine) == text && mine == other.body.data)
    }

    /// The memory of the body has an owner, as that of the engine's responses has.
    ///
    /// `@unchecked Sendable`: nothing changes after the initialiser.
    private final class LentStorage: ResponseStorage, @unchecked Sendable {
        private let owner = Info()

        override var bodyOwner: AnyObject? { owner }

        init(_ size: Int) {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 1)
            bytes.initializeMemory(as: UInt8.self, repeating: 97, count: size)
            super.init(
                statusCode: 200, head: UnsafeRawBufferPointer(start: nil, count: 0),
                body: UnsafeRawBufferPointer(start: bytes, count: size),
                memory: Memory(pointer: bytes) { $0.deallocate() })
        }
    }

    @Test(arguments: [false, true]) func dataBesideAnOwnerIsCopiedOnce(isMarked: Bool) {
        let response = Response(storage: LentStorage(500))
        let body = (isMarked ? response.marked(Info()) : response).body
        #expect(body.shareOwner { _ in true } != nil)
        var data = [body.data, body.data, response.body.data]
        let addresses = Set(data.map { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } })
        #expect(addresses.count == 1)
        #expect(!addresses.contains(body.withBytes { UInt(bitPattern: $0.baseAddress) }))
        data[0][0] = 1
        #expect(data[1] == data[2] && data[1].first == 97 && body.bytes.first == 97)
        #expect(body.shareOwner { _ in true } != nil)
    }

    @Test func anOwnerThatIsNotWantedIsNotShared() {
        let body = Response(storage: LentStorage(500)).body
        #expect(body.shareOwner { _ in false } == nil)
        let place = body.data.withUnsafeBytes { $0.baseAddress }
        #expect(place == body.withBytes { $0.baseAddress })
        #expect(body.shareOwner { _ in true } == nil)
    }

    @Test func dataOutlivesTheResponse() {
        let data = Response(statusCode: 200, body: Array("body".utf8)).body.data
        #expect(String(decoding: data, as: UTF8.self) == "body")
    }
}
