import Glibc

/// The journal on disk: three slots of one file, so that what is written often is written in place, without a new file and
/// a rename each time.
///
/// A slot is written over only when another one is on the disk for sure and a third has the newest word: a kill or a loss
/// of power that tears one leaves one that is true. Whoever writes has synced the bytes that the journal speaks of, so each
/// of its words may reach the disk whenever it likes, or not at all: the slots need no sync of their own but now and then.
struct DownloadJournalFile: ~Copyable {
    /// `nil` until the first is written: what an earlier run has left is replaced then.
    private var file: FileDescriptor?
    private var slotBytes = 0
    private var generation: UInt64 = 0
    private var newest = 0
    /// On the disk for sure.
    private var durable = 0

    private static let slots = 3
    private static let page = 4096
    /// Longer files are not ours.
    private static let maximumBytes = slots * (DownloadJournal.maximumBytes + page)

    /// Whether this has written one.
    var isBegun: Bool { slotBytes > 0 }

    /// - Parameter isDurable: Whether it must be on the disk when this returns.
    mutating func write(
        _ journal: DownloadJournal, isDurable: Bool, to paths: DownloadPaths, in directory: borrowing DownloadDirectory
    ) throws(FileDescriptor.Failure) {
        let record = Self.record(journal, generation + 1)
        // Removed meanwhile, perhaps with its directory: nobody would find it.
        guard record.count <= slotBytes, let links = try file?.status().st_nlink, links > 0 else {
            return try begin(record, paths, directory)
        }
        // The one of three that is neither.
        let slot = (0..<Self.slots).first { $0 != newest && $0 != durable } ?? 0
        try file?.write(record, at: Int64(slot * slotBytes))
        generation += 1
        newest = slot
        if isDurable { try sync() }
    }

    /// What was written last is on the disk when this returns.
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

    /// A new file, on disk before it has the name: the old one or the new one, never a torn one.
    private mutating func begin(
        _ record: [UInt8], _ paths: DownloadPaths, _ directory: borrowing DownloadDirectory
    ) throws(FileDescriptor.Failure) {
        // Room for the ranges to come. All of it is written, so that a full disk has it already.
        let size = (record.count + 1024 + Self.page - 1) / Self.page * Self.page
        let all = record + [UInt8](repeating: 0, count: Self.slots * size - record.count)
        try directory.remove(paths.newJournal)
        // URLs have secrets in them.
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

    /// The number of the word, the journal with its length before it, and a CRC-32 of both.
    private static func record(_ journal: DownloadJournal, _ generation: UInt64) -> [UInt8] {
        let bytes = journal.encoded
        var writer = JournalWriter([])
        writer.write(generation)
        writer.write(UInt64(bytes.count))
        writer = JournalWriter(writer.bytes + bytes)
        writer.write(UInt64(Checksum.crc32(writer.bytes)))
        return writer.bytes
    }

    private static func decode(_ slot: ArraySlice<UInt8>) -> (generation: UInt64, journal: DownloadJournal)? {
        var reader = JournalReader(slot.prefix(16))
        guard let generation = reader.number(), let count = reader.number(), slot.count >= 24,
            count <= UInt64(slot.count - 24)
        else { return nil }
        let end = slot.startIndex + 16 + Int(count)
        var checksum = JournalReader(slot[end..<end + 8])
        guard checksum.number() == UInt64(Checksum.crc32(slot[..<end])) else { return nil }
        return DownloadJournal(decoding: Array(slot[slot.startIndex + 16..<end])).map { (generation, $0) }
    }

    /// The newest of the slots that is whole; `nil` where there is none.
    static func decode(_ bytes: [UInt8]) -> DownloadJournal? {
        guard !bytes.isEmpty, bytes.count % (slots * page) == 0 else { return nil }
        let size = bytes.count / slots
        let found = (0..<slots).compactMap { decode(bytes[$0 * size..<($0 + 1) * size]) }
        return found.max { $0.generation < $1.generation }?.journal
    }

    /// `nil` where there is none, or none that can be trusted: another user's may say anything of bytes that are not ours.
    static func read(_ paths: DownloadPaths, in directory: borrowing DownloadDirectory) -> DownloadJournal? {
        guard let file = try? directory.open(paths.journal, O_RDONLY), let status = try? file.status(),
            status.st_mode & S_IFMT == S_IFREG, directory.isOwn(status), status.st_size <= maximumBytes,
            let bytes = try? file.read(Int(status.st_size), at: 0)
        else { return nil }
        return decode(bytes)
    }
}
