import Glibc

/// The journal on disk: three slots in one file. Frequent updates are written in place, without a new file and a rename
/// each time.
///
/// A slot is overwritten only while another slot is durable and a third slot has the newest record. So a kill or a loss
/// of power that tears one slot leaves a valid slot. The caller has synced the bytes that the journal describes, so
/// each record may reach the disk at any time or never. The slots themselves need a sync only now and then.
struct DownloadJournalFile: ~Copyable {
    /// `nil` until the first record is written, which replaces the file of an earlier run.
    private var file: FileDescriptor?
    private var slotBytes = 0
    private var generation: UInt64 = 0
    private var newest = 0
    /// The slot that is on the disk for certain.
    private var durable = 0

    private static let slots = 3
    private static let page = 4096
    /// Longer files are not from this library.
    private static let maximumBytes = slots * (DownloadJournal.maximumBytes + page)

    /// Whether this value has written a file.
    var isBegun: Bool { slotBytes > 0 }

    /// - Parameter isDurable: Whether the record must be on the disk when this returns.
    mutating func write(
        _ journal: DownloadJournal, isDurable: Bool, to paths: DownloadPaths, in directory: borrowing DownloadDirectory
    ) throws(FileDescriptor.Failure) {
        let record = Self.record(journal, generation + 1)
        // The file was removed meanwhile, perhaps with its directory, so no later run would find it.
        guard record.count <= slotBytes, let links = try file?.status().st_nlink, links > 0 else {
            return try begin(record, paths, directory)
        }
        // The slot that is neither the newest nor the durable one.
        let slot = (0..<Self.slots).first { $0 != newest && $0 != durable } ?? 0
        try file?.write(record, at: Int64(slot * slotBytes))
        generation += 1
        newest = slot
        if isDurable { try sync() }
    }

    /// The last record is on the disk when this returns.
    mutating func sync() throws(FileDescriptor.Failure) {
        guard newest != durable else { return }
        try file?.syncData()
        durable = newest
    }

    mutating func remove(_ paths: DownloadPaths, in directory: borrowing DownloadDirectory) throws(FileDescriptor
        .Failure)
    {
        file = nil
        slotBytes = 0
        if try directory.remove(paths.journal) { try directory.sync() }
    }

    /// Makes a new file that is on disk before it gets its name: a reader finds the old file or the new one, never a
    /// torn one.
    private mutating func begin(
        _ record: [UInt8], _ paths: DownloadPaths, _ directory: borrowing DownloadDirectory
    ) throws(FileDescriptor.Failure) {
        // Room for further ranges. All of it is written now, so that the space exists even when the disk is full later.
        let size = (record.count + 1024 + Self.page - 1) / Self.page * Self.page
        let all = record + [UInt8](repeating: 0, count: Self.slots * size - record.count)
        try directory.remove(paths.newJournal)
        // URLs may contain secrets.
        let new = try directory.open(paths.newJournal, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        do throws(FileDescriptor.Failure) {
            try new.write(all, at: 0)
            try new.sync()
            try directory.rename(paths.newJournal, to: paths.journal)
        } catch {
            _ = try? directory.remove(paths.newJournal)
            throw error
        }
        file = consume new
        slotBytes = size
        generation += 1
        newest = 0
        durable = 0
        try directory.sync()
    }

    // MARK: Slots

    /// The generation number, the journal preceded by its length, and a CRC-32 of both.
    private static func record(_ journal: DownloadJournal, _ generation: UInt64) -> [UInt8] {
        let bytes = journal.encoded
        var writer = BinaryWriter(capacity: bytes.count + 24)
        writer.number(generation)
        writer.number(UInt64(bytes.count))
        writer.raw(bytes)
        writer.number(UInt64(Checksum.crc32(writer.output)))
        return writer.output
    }

    private static func decode(_ slot: UnsafeRawBufferPointer) -> (generation: UInt64, journal: DownloadJournal)? {
        var reader = BinaryReader(slot)
        guard let generation = reader.number(UInt64.self),
            let count = reader.number(UInt64.self).flatMap(Int.init(exactly:)), let journal = reader.raw(count),
            reader.number(UInt64.self) == UInt64(Checksum.crc32(slot[..<(16 + count)]))
        else { return nil }
        return DownloadJournal(decoding: Array(journal)).map { (generation, $0) }
    }

    /// The newest intact slot; `nil` if there is none.
    static func decode(_ bytes: [UInt8]) -> DownloadJournal? {
        guard !bytes.isEmpty, bytes.count % (slots * page) == 0 else { return nil }
        let size = bytes.count / slots
        let found = (0..<slots).compactMap { slot in
            bytes[slot * size..<(slot + 1) * size].withUnsafeBytes(decode)
        }
        return found.max { $0.generation < $1.generation }?.journal
    }

    /// `nil` if there is no journal, or none that can be trusted: a journal of another user may claim anything about
    /// the bytes.
    static func read(_ paths: DownloadPaths, in directory: borrowing DownloadDirectory) -> DownloadJournal? {
        guard let file = try? directory.open(paths.journal, O_RDONLY), let status = try? file.status(),
            status.st_mode & S_IFMT == S_IFREG, directory.isOwn(status), status.st_size <= maximumBytes,
            let bytes = try? file.read(Int(status.st_size), at: 0)
        else { return nil }
        return decode(bytes)
    }
}
