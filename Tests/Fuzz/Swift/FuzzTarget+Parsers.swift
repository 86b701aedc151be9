import Errand
import Foundation
import HTTPTypes

@testable import ErrandAuthentication
@testable import ErrandCaching
@testable import ErrandClient
@testable import ErrandDownloads
@testable import ErrandEngine
@testable import ErrandEvents
@testable import ErrandGroups
@testable import ErrandLogging
@testable import ErrandModel

extension FuzzTarget {
    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// What was parsed is the same value when it is written and parsed again.
    static let json = FuzzTarget(name: "json") { bytes in
        func value(_ bytes: [UInt8]) -> JSONValue? { bytes.withUnsafeBytes { try? JSONParser.value(of: $0) } }
        guard let first = value(bytes), let written = try? JSONEncoder().encode(first) else { return }
        precondition(value(Array(written)).map { isSame($0, first) } == true)
    }

    /// Numbers are compared as `Double`. The shortest text of a `Double` above 2^53 may be another whole number, and whole
    /// numbers are read exactly.
    private static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
        case (.object(let left), .object(let right)):
            left.count == right.count
                && left.allSatisfy { name, value in right[name].map { isSame(value, $0) } == true }
        default: left == right || (left.number != nil && left.number == right.number)
        }
    }

    static let cacheControl = FuzzTarget(name: "cache-control") { bytes in
        var headers = HTTPFields()
        headers[.cacheControl] = text(bytes)
        let response = CacheControl.response(headers)
        let request = CacheControl.request(headers)
        for span in [response.maxAge, response.sharedMaxAge, request.maxAge] {
            precondition((0...CacheControl.longest).contains(span ?? 0))
        }
    }

    /// A date that was read is written as a date that reads as the same moment.
    static let date = FuzzTarget(name: "date") { bytes in
        let now = CacheTime(milliseconds: 1_700_000_000_000)
        guard let time = HTTPDate.time(text(bytes), now: now) else { return }
        precondition(HTTPDate.time(HTTPDate.text(time), now: now) == time)
    }

    /// A name for a file never leaves its folder.
    static let disposition = FuzzTarget(name: "disposition") { bytes in
        let value = text(bytes)
        _ = ContentDisposition.fileName(in: value)
        let name = DownloadName(contentDisposition: value, url: "http://host/\(value)").text
        precondition(!name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255)
        precondition(!name.utf8.contains { $0 == 0x2F || $0 < 0x20 })
    }

    static let challenge = FuzzTarget(name: "challenge") { bytes in
        let offers = ChallengeParser.offers(in: text(bytes))
        precondition(offers.count <= bytes.count)
        precondition(offers.allSatisfy { !$0.scheme.isEmpty && $0.scheme == $0.scheme.lowercased() })
    }

    static let contentRange = FuzzTarget(name: "content-range") { bytes in
        guard let range = ContentRange(text(bytes)) else { return }
        if let part = range.range {
            precondition(part.lowerBound >= 0 && !part.isEmpty)
            precondition(part.upperBound <= range.total ?? .max)
        } else {
            precondition(range.total != nil)
        }
    }

    /// Exactly what was written is read. The input is also sealed with its checksum, to come behind it.
    static let journal = FuzzTarget(name: "journal") { bytes in
        func check(_ bytes: [UInt8]) {
            guard let journal = DownloadJournal(decoding: bytes) else { return }
            precondition(journal.encoded == bytes)
        }
        check(bytes)
        var writer = BinaryWriter(bytes)
        writer.number(UInt64(Checksum.crc32(bytes)))
        check(writer.output)
        var journal = DownloadJournal(url: text(bytes))
        journal.length = bytes.first.map(Int64.init)
        journal.safe = ByteRangeSet(bytes.prefix(8).map { Int64($0)..<Int64($0) + 1 })
        let sealed = journal.encoded
        precondition(DownloadJournal(decoding: sealed).map { $0.encoded == sealed } ?? (journal.length != nil))
        // One byte of a sound journal changed: no journal, as the checksum says.
        var torn = sealed
        torn[Int(bytes.last ?? 0) % torn.count] ^= 1
        precondition(DownloadJournal(decoding: torn) == nil)
    }

    /// The events are the same wherever the borders of the chunks fall.
    static let events = FuzzTarget(name: "events") { bytes in
        func events(_ chunks: [[UInt8]]) -> [ServerSentEvent]? {
            var parser = ServerSentEventParser(maximumEventBytes: 256)
            var events: [ServerSentEvent] = []
            for chunk in chunks {
                parser.push(chunk)
                while true {
                    guard let event = try? parser.next() else { break }
                    events.append(event)
                }
            }
            return events
        }
        let step = Int(bytes.first ?? 0) % 7 + 1
        let chunks = stride(from: 0, to: bytes.count, by: step).map {
            Array(bytes[$0..<min($0 + step, bytes.count)])
        }
        precondition(events([bytes]) == events(chunks))
    }

    /// Fields read from a block have names that are tokens and values without line ends.
    static let fields = FuzzTarget(name: "fields") { bytes in
        let fields = bytes.withUnsafeBytes { HeaderParser.fields($0) }
        for field in fields { precondition(!field.value.utf8.contains { $0 == 0x0A || $0 == 0x00 }) }
    }

    /// A stored record that is read is written as the same bytes, but for the seal.
    static let record = FuzzTarget(name: "record") { bytes in
        guard let record = bytes.withUnsafeBytes({ CacheRecord(content: $0) }),
            let key = CacheKey(digest: String(repeating: "0", count: 64)), let written = try? record.encoded(for: key)
        else { return }
        precondition(written.dropLast(SHA256.byteCount).elementsEqual(bytes))
    }
}
