/// The part of a running download and its digest. Used on the file queue only.
final class DownloadPart {
    private(set) var file: PartFile
    private var digest: DigestFollower?
    /// The number of bytes in the part.
    private(set) var received: Int64
    /// The number of bytes that an earlier run left and that are still there.
    private(set) var resumed: Int64

    /// The number of bytes that the digest reads again per chunk while it is behind, so that it catches up while the
    /// download waits for the network.
    private static let stride: Int64 = 1 << 20

    /// Throws the same errors as `PartFile.open`.
    init(_ paths: DownloadPaths, url: String, _ settings: DownloadSettings) throws(ErrandError) {
        var file = try PartFile.open(
            paths, url: url, ignoringQuery: settings.ignoresQuery, overwrite: settings.overwrite)
        if settings.resumes == .never, !file.journal.safe.isEmpty { try file.restart() }
        digest = settings.policy.checksDigest ? try DigestFollower() : nil
        resumed = file.journal.safe.count
        received = resumed
        self.file = file
    }

    /// The journal that an earlier run left.
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

    /// Reserves no space for a length beyond `limit`. The core rejects such a body at its first byte; until then the
    /// length is an unverified claim of the server. A resumed file may be longer, because the limit applies to each
    /// transfer.
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

    /// Reads on for the digest. Returns the digest when it covers all bytes.
    func follow(atMost count: Int64) throws(ErrandError) -> String? {
        let end = file.written.prefixEnd
        try digest?.follow(file, to: end, atMost: count)
        return try digest?.digest(upTo: end) ?? nil
    }

    func install(_ overwrite: OverwritePolicy) throws(ErrandError) -> String { try file.install(overwrite) }

    func discard() throws(ErrandError) { try file.discard() }

    /// Makes everything safe as far as possible; an empty part is removed.
    func close() {
        if isEmpty {
            try? file.discard()
        } else {
            file.keep()
        }
    }
}
