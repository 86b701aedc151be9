/// The content of the journal beside a `.part` file. It lets a later run resume: it says to which content the bytes
/// belong, and which of them are safe on disk.
///
/// The state of the hash is not stored, because it is internal to the hash library and changes with its version.
/// Reading the safe bytes again takes less time than asking the server.
struct DownloadJournal: Sendable, Hashable {
    /// The requested URL, before redirects: redirect targets may carry a new signature each time.
    var url: String
    var validators = DownloadValidators()
    /// The length of the whole content; `nil`: not known.
    var length: Int64?
    /// The ranges that were written and synced.
    var safe = ByteRangeSet()

    init(url: String) {
        self.url = url
    }

    /// Whether the journal belongs to this URL; with `ignoringQuery`, a URL that differs only in its query counts, too.
    func isOf(_ other: String, ignoringQuery: Bool) -> Bool {
        func key(_ url: String) -> Substring.UTF8View { Substring(url).utf8.prefix { $0 != UInt8(ascii: "?") } }
        return url == other || ignoringQuery && key(url).elementsEqual(key(other))
    }
}

extension DownloadJournal {
    /// Changes with the layout below; a journal of another version is ignored.
    static let version: UInt64 = 1
    /// Longer journals are not from this library.
    static let maximumBytes = 1 << 20
    private static let magic = Array("errand-download\n".utf8)

    /// The magic word, the version, the fields, and a CRC-32 of all of them. The checksum detects torn and foreign
    /// files. A process of this user could forge a journal; a journal of another user is not read at all.
    var encoded: [UInt8] {
        var writer = BinaryWriter(Self.magic)
        writer.number(Self.version)
        writer.journalText(url)
        for text in [validators.entityTag, validators.lastModified, validators.date] { writer.journalText(text) }
        writer.number(length ?? -1)
        writer.number(UInt64(safe.ranges.count))
        for range in safe.ranges {
            writer.number(range.lowerBound)
            writer.number(range.upperBound)
        }
        writer.number(UInt64(Checksum.crc32(writer.output)))
        return writer.output
    }

    /// `nil` for bytes that `encoded` produces for no journal.
    init?(decoding bytes: [UInt8]) {
        guard let journal = bytes.withUnsafeBytes({ DownloadJournal(decoding: $0) }) else { return nil }
        self = journal
    }

    private init?(decoding bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= Self.maximumBytes, bytes.count >= Self.magic.count + 8 else { return nil }
        var reader = BinaryReader(bytes)
        guard reader.raw(Self.magic.count)?.elementsEqual(Self.magic) == true,
            reader.number(UInt64.self) == Self.version, let url = reader.journalText() ?? nil,
            let entityTag = reader.journalText(), let lastModified = reader.journalText(),
            let date = reader.journalText(), let length = reader.number(Int64.self), length >= -1,
            let count = reader.number(UInt64.self), count <= UInt64(bytes.count / 16)
        else { return nil }
        var (ranges, end): ([Range<Int64>], Int64) = ([], -1)
        for _ in 0..<count {
            // In order and not touching, as in `ByteRangeSet`.
            guard let first = reader.number(Int64.self), let last = reader.number(Int64.self), first > end,
                last > first, length < 0 || last <= length
            else { return nil }
            ranges.append(first..<last)
            end = last
        }
        guard reader.number(UInt64.self) == UInt64(Checksum.crc32(bytes.dropLast(8))), reader.isAtEnd else {
            return nil
        }
        self.url = url
        validators = DownloadValidators(entityTag: entityTag, lastModified: lastModified, date: date)
        self.length = length < 0 ? nil : length
        safe = ByteRangeSet(ranges)
    }
}
