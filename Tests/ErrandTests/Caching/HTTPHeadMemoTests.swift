import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching
@testable import ErrandModel

/// That nothing is served by what was remembered of another record, and that the short way to a hit is as strict as the
/// long one.
@Suite(.timeLimit(.minutes(20))) struct HTTPHeadMemoTests {
    private let memo = HTTPHeadMemo()
    private let key: CacheKey

    init() throws {
        key = try #require(CacheKey(hashing: [[1]]))
    }

    private func record(_ fields: String, requested: Int64 = 0, received: Int64 = 0) -> CacheRecord {
        CacheRecord(
            url: "http://a/", head: Array("HTTP/1.1 200 OK\r\n\(fields)".utf8), storedAt: received,
            requestedAt: requested, respondedAt: received)
    }

    @Test func theSameRecordIsReadOnce() throws {
        let record = record("Cache-Control: max-age=60\r\nAge: 7\r\nX-A: b\r\n")
        let head = try #require(memo.head(of: record, under: key))
        #expect(memo.head(of: record, under: key) === head)
        #expect(head.entry.control.maxAge == 60 && head.entry.ageField == 7)
        #expect(
            String(decoding: head.lines, as: UTF8.self) == "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nX-A: b\r\n")
    }

    @Test func whateverChangesIsReadAnew() throws {
        let first = record("Cache-Control: max-age=60\r\n")
        let head = try #require(memo.head(of: first, under: key))
        var changed: [CacheRecord] = [
            record("Cache-Control: max-age=61\r\n"), record("Cache-Control: max-age=60\r\n", requested: -1),
            record("Cache-Control: max-age=60\r\n", received: 1),
        ]
        for change: (inout CacheRecord) -> Void in [
            { $0.status = 404 }, { $0.varyNames = ["accept"] }, { $0.varyDigest = "0" },
        ] {
            var record = first
            change(&record)
            changed.append(record)
        }
        for record in changed {
            let other = try #require(memo.head(of: record, under: key))
            #expect(other !== head)
            #expect(other.entry.statusCode == record.status)
            #expect(other.entry.responseTime.milliseconds == record.respondedAt)
            #expect(other.entry.requestTime.milliseconds == record.requestedAt)
            #expect(other.entry.vary.names == record.varyNames)
            #expect(memo.head(of: first, under: key)?.entry.control.maxAge == 60)
        }
        var timed = first
        timed.timeToLive = 1
        #expect(memo.head(of: timed, under: key) == nil)
    }

    @Test func keysThatShareAPlaceDoNotShareAHead() throws {
        let zeros = String(repeating: "0", count: 63)
        let keys = try ["1", "2"].map { try #require(CacheKey(digest: zeros + $0)) }
        for age in [1, 2, 3] {
            for (number, key) in keys.enumerated() {
                let record = record("Cache-Control: max-age=\(number * 10 + age)\r\n")
                #expect(memo.head(of: record, under: key)?.entry.control.maxAge == Int64(number * 10 + age))
            }
        }
    }

    @Test func whatIsReplacedWithinAMillisecondIsServedAsItIsNow() async throws {
        let store = MemoryCacheStore()
        try await CachingBench(
            store: store,
            answer: { .response(status: 200, headers: ["Cache-Control": "max-age=60", "X-N": "\($1)"], body: "\($1)") }
        ).run { bench async throws in
            for number in 1...3 {
                _ = await bench.finished(GetCached(cache: .http(reading: .networkOnly)))
                for _ in 0..<2 {
                    let hit = await bench.finished(GetCached(cache: .http))
                    #expect(hit.isFromCache && hit.value == "\(number)")
                    #expect(hit.response?.headers[values: "X-N"] == ["\(number)"])
                }
            }
            #expect(bench.sent == 3)
        }
    }

    @Test(arguments: [
        ("Cache-Control", "no-cache"), ("cache-control", "max-age=0"), ("Pragma", "no-cache"), ("Range", "bytes=0-1"),
        ("If-None-Match", "\"t\""), ("IF-MODIFIED-SINCE", "Sun, 06 Nov 1994 08:49:37 GMT"), ("If-Match", "*"),
        ("If-Range", "\"t\""), ("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ]) func aRequestThatSaysSoIsLookedAtClosely(_ field: (String, String)) async throws {
        try await CachingBench(
            answer: { .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "\($1)") }
        ).run { bench async throws in
            _ = await bench.finished(GetCached(cache: .http))
            #expect(await bench.finished(GetCached(cache: .http)).isFromCache)
            let name = try #require(HTTPField.Name(field.0))
            let asked = await bench.finished(GetCached(cache: .http, headers: [name: field.1]))
            #expect(!asked.isFromCache && bench.sent == 2)
        }
    }

    @Test func aKeyIsTheSameByItsDigest() throws {
        let again = try #require(CacheKey(namespace: key.namespace, digest: key.digest))
        #expect(again == key && again.hashValue == key.hashValue && again.digest.utf8.count == 64)
        #expect(Array(key.digest.utf8) == Array(SHA256.hex(SHA256.digest(of: [1, 0, 0, 0, 0, 0, 0, 0, 1]) ?? []).utf8))
    }

    @Test func aRecordWrittenAgainIsTheLastToGo() throws {
        let one = record("").byteCount
        let store = MemoryCacheStore(limits: .init(bytes: 2 * one))
        let keys = try (0..<3).map { try #require(CacheKey(hashing: [[UInt8($0)]])) }
        try store.write(record(""), for: keys[0])
        try store.write(record(""), for: keys[1])
        try store.write(record("", received: 5), for: keys[0])
        #expect(store.statistics().entries == 2 && store.statistics().bytes == 2 * one)
        try store.write(record(""), for: keys[2])
        #expect(store.read(keys[1]) == nil && store.read(keys[0])?.respondedAt == 5 && store.read(keys[2]) != nil)
        // One that has grown makes room at the others' cost, never at its own.
        var grown = record("")
        grown.body = [UInt8](repeating: 0, count: one)
        try store.write(grown, for: keys[0])
        #expect(store.read(keys[0]) == grown && store.read(keys[2]) == nil && store.statistics().bytes == 2 * one)
    }
}
