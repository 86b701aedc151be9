/// The part of a running download, with the digest that follows it. On the file queue alone.
final class DownloadPart {
    private(set) var file: PartFile
    private var digest: DigestFollower?
    /// Bytes in the part.
    private(set) var received: Int64
    /// So much was there in the beginning, and still is.
    private(set) var resumed: Int64

    /// Read again for each chunk while the digest is behind: it catches up while the network is waited for.
    private static let stride: Int64 = 1 << 20

    /// Throws as `PartFile.open`.
    init(_ paths: DownloadPaths, url: String, _ settings: DownloadSettings) throws(ErrandError) {
        var file = try PartFile.open(
            paths, url: url, ignoringQuery: settings.ignoresQuery, overwrite: settings.overwrite)
        if settings.resumes == .never, !file.journal.safe.isEmpty { try file.restart() }
        digest = settings.policy.checksDigest ? try DigestFollower() : nil
        resumed = file.journal.safe.count
        received = resumed
        self.file = file
    }

    /// What an earlier run has left.
    var found: DownloadJournal? { file.journal.safe.isEmpty ? nil : file.journal }

    var isEmpty: Bool { received == 0 }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(ErrandError) {
        try file.write(bytes, at: offset)
        received += Int64(bytes.count)
        guard digest != nil else { return }
        if digest?.offset == offset {
            try digest?.wrote(bytes, at: offset)
        } else {
            try digest?.follow(file, to: file.written.prefixEnd, atMost: Self.stride)
        }
    }

    /// No room is reserved for a length beyond `limit`: the core refuses such a body, but at its first byte, and until then
    /// the length is a server's word alone. What is resumed may be longer, for the limit is each transfer's.
    func identify(
        _ validators: DownloadValidators, length: Int64?, reservedUpTo limit: Int64
    ) throws(ErrandError) {
        file.identify(validators, length: length)
        if let length, length <= limit { try file.reserve(length) }
    }

    func sync() throws(ErrandError) { try file.sync() }

    func restart() throws(ErrandError) {
        try file.restart()
        if digest != nil { digest = try DigestFollower() }
        received = 0
        resumed = 0
    }

    /// Reads on for the digest. Answers it when everything is in it.
    func follow(atMost count: Int64) throws(ErrandError) -> String? {
        let end = file.written.prefixEnd
        try digest?.follow(file, to: end, atMost: count)
        return try digest?.digest(upTo: end) ?? nil
    }

    func install(_ overwrite: OverwritePolicy) throws(ErrandError) -> String { try file.install(overwrite) }

    func discard() throws(ErrandError) { try file.discard() }

    /// Everything safe, as far as it goes; what is empty is not worth keeping.
    func close() {
        if isEmpty {
            try? file.discard()
        } else {
            file.keep()
        }
    }
}
