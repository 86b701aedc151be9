import Errand
import ErrandTesting
import Testing

@testable import ErrandCaching
@testable import ErrandModel

@Suite struct CacheRecordCodingTests {
    private let key: CacheKey

    init() throws {
        key = try #require(CacheKey(namespace: "n", hashing: [[1]]))
    }

    private let full = CacheRecord(
        url: "http://h/\u{1F600}", method: "QUERY", status: 206, head: Array("A: b\r\n".utf8), body: Array(0...255),
        storedAt: .max, requestedAt: .min, respondedAt: 0, timeToLive: -1, version: .min, applicationVersion: "",
        sensitiveDigest: "s", varyNames: ["a", ""], varyDigest: "v", tags: ["t"])

    @Test func whatIsEncodedIsDecoded() throws {
        for record in [full, CacheRecord(url: "", storedAt: 0)] {
            #expect(CacheRecord(encoded: try record.encoded(for: key), for: key) == record)
        }
    }

    @Test func aRecordBelongsToItsKey() throws {
        let bytes = try full.encoded(for: key)
        for other in [CacheKey(namespace: "m", digest: key.digest), CacheKey(namespace: "n", hashing: [[2]])] {
            #expect(CacheRecord(encoded: bytes, for: try #require(other)) == nil)
        }
    }

    @Test func everyFlippedBitIsSeen() throws {
        let bytes = try full.encoded(for: key)
        for place in bytes.indices {
            var bad = bytes
            bad[place] ^= 1 << UInt8(place % 8)
            #expect(CacheRecord(encoded: bad, for: key) == nil)
        }
    }

    @Test func everyShorterAndLongerOneIsSeen() throws {
        let bytes = try full.encoded(for: key)
        for count in bytes.indices { #expect(CacheRecord(encoded: Array(bytes.prefix(count)), for: key) == nil) }
        #expect(CacheRecord(encoded: bytes + [0], for: key) == nil)
    }

    /// Past the seal, as a program with a bug might write it.
    @Test func theReaderTakesNoGarbage() throws {
        var numbers = SeededGenerator(seed: 7)
        let whole = Array(try full.encoded(for: key).dropLast(SHA256.byteCount))
        #expect(whole.withUnsafeBytes { CacheRecord(content: $0) } == full)
        for count in whole.indices { #expect(whole.prefix(count).withUnsafeBytes { CacheRecord(content: $0) } == nil) }
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                bytes[Int.random(in: 0..<bytes.count, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
            }
            if let record = bytes.withUnsafeBytes({ CacheRecord(content: $0) }) {
                // Whatever it took was all there.
                #expect(record.byteCount <= full.byteCount + 64)
            }
        }
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...200, using: &numbers)).map { _ in
                UInt8.random(in: 0...255, using: &numbers)
            }
            #expect(bytes.withUnsafeBytes { CacheRecord(content: $0) } == nil)
        }
    }

    @Test func textThatIsNoUTF8IsRefused() throws {
        var bytes = Array(try CacheRecord(url: "xyz", storedAt: 0).encoded(for: key).dropLast(SHA256.byteCount))
        let place = try #require(bytes.firstIndex(of: UInt8(ascii: "x")))
        bytes[place] = 0xFF
        #expect(bytes.withUnsafeBytes { CacheRecord(content: $0) } == nil)
    }
}
