import Glibc

/// The `.part` file of a download and its journal. Both stay in step on disk: bytes that the journal calls safe are on
/// the disk, and at most `syncInterval` written bytes are not safe yet.
///
/// The part has one owner at a time among all processes (`flock`). In this process one thread at a time uses it. Every
/// call may block on the disk. All errors leave both files for the next try. A process with a file size limit should
/// ignore SIGXFSZ; reaching the limit is then ``ErrandError/diskFull``, too.
struct PartFile: ~Copyable {
    let paths: DownloadPaths
    private let directory: DownloadDirectory
    private let file: FileDescriptor
    private let syncInterval: Int64
    /// The state that is on disk, or will be with the next sync.
    private(set) var journal: DownloadJournal
    private var journalFile = DownloadJournalFile()
    /// The last state of ``journal`` was not written to the disk.
    private var isJournalBehind = false
    /// The bytes that were made safe since the journal was last synced.
    private var bytesSinceJournalSync: Int64 = 0
    /// The ranges that were written since the last sync.
    private var unsynced = ByteRangeSet()
    /// The number of bytes for which space was reserved in this run.
    private var reserved: Int64 = 0
    /// The error of the first sync that failed. The kernel has then dropped the pages that it could not write and
    /// marked them clean, so that the next sync would succeed without having written them.
    private var failure: ErrandError?

    /// A little less than 1 MB, and whole pages.
    static let syncInterval: Int64 = 15 << 16
    /// The journal itself is synced after this number of bytes. Its content is true whether or not it is on the disk;
    /// the difference shows only after a loss of power.
    private static let journalInterval: Int64 = 16 << 20

    /// Opens or creates the part and takes the lock. The bytes of an earlier run are kept if its journal belongs to
    /// `url` and calls them safe; all others are cut off. ``journal`` says what was kept. A file with the part's name
    /// is foreign, and is not changed, if it has bytes but no journal of this user, if it belongs to another user or if
    /// it has a second name.
    ///
    /// Throws ``ErrandError/fileLocked`` if another download holds the lock, ``ErrandError/directoryMissing``,
    /// ``ErrandError/fileAccessDenied``, ``ErrandError/fileIsDirectory`` (the destination or the part),
    /// ``ErrandError/fileExists`` because of `overwrite` or if the part is foreign, ``ErrandError/diskFull``,
    /// ``ErrandError/fileUnwritable``.
    static func open(
        _ paths: DownloadPaths, url: String, ignoringQuery: Bool = false, overwrite: OverwritePolicy = .replace,
        syncInterval: Int64 = PartFile.syncInterval
    ) throws(ErrandError) -> PartFile {
        let directory = try DownloadDirectory(paths)
        try checkDestination(paths, directory, overwrite)
        let file = try openPart(paths, directory)
        var part = PartFile(paths, directory, file, DownloadJournal(url: url), syncInterval)
        do {
            if try part.isForeign() {
                throw ErrandError.file(
                    .fileExists, paths.path(paths.part), "already exists and does not belong to a download")
            }
            try part.recover(ignoringQuery: ignoringQuery)
        } catch let error as FileDescriptor.Failure {
            throw .file(paths.path(paths.part), "cannot be resumed", errno: error.errno)
        } catch let error as ErrandError {
            throw error
        } catch {
            throw .fileUnwritable
        }
        return part
    }

    private init(
        _ paths: DownloadPaths, _ directory: consuming DownloadDirectory, _ file: consuming FileDescriptor,
        _ journal: DownloadJournal, _ syncInterval: Int64
    ) {
        self.paths = paths
        self.directory = directory
        self.file = file
        self.journal = journal
        self.syncInterval = max(1, syncInterval)
    }

    deinit {
        // Closing the descriptor is not enough while another thread forks: until the child calls `exec`, the child
        // holds the descriptor and with it the lock.
        _ = SystemCalls.flock(file.number, LOCK_UN)
    }

    /// A part of this library has a journal, complete or not, from before its first byte until it is renamed.
    private func isForeign() throws(FileDescriptor.Failure) -> Bool {
        guard try file.status().st_size > 0 else { return false }
        guard let journal = try directory.status(paths.journal) else { return true }
        return !directory.isOwn(journal)
    }

    private mutating func recover(ignoringQuery: Bool) throws(FileDescriptor.Failure) {
        let size = Int64(try file.status().st_size)
        let url = journal.url
        guard let found = directory.readJournal(), found.isOf(url, ignoringQuery: ignoringQuery),
            !found.safe.clipped(to: size).isEmpty
        else {
            return try startOver()
        }
        journal = found
        journal.url = url
        journal.safe = found.safe.clipped(to: size)
        try file.truncate(to: journal.safe.end)
        // Written before any byte goes into a range that the old journal calls safe.
        if journal != found { try journalFile.write(journal, isDurable: true, to: paths, in: directory) }
    }

    private static func checkDestination(
        _ paths: DownloadPaths, _ directory: borrowing DownloadDirectory, _ overwrite: OverwritePolicy
    ) throws(ErrandError) {
        if case .number = overwrite { return }
        do {
            guard let existing = try directory.status(paths.name) else { return }
            if existing.st_mode & S_IFMT == S_IFDIR {
                throw ErrandError.file(.fileIsDirectory, paths.destination, "is a directory")
            }
            if case .fail = overwrite { throw ErrandError.file(.fileExists, paths.destination, "already exists") }
            guard existing.st_mode & S_IFMT == S_IFREG else {
                let kind = existing.st_mode & S_IFMT == S_IFLNK ? "a symbolic link" : "not a regular file"
                throw ErrandError.file(.fileExists, paths.destination, "is \(kind) and cannot be replaced")
            }
        } catch let error as FileDescriptor.Failure {
            throw .file(paths.destination, "cannot be written", errno: error.errno)
        } catch let error as ErrandError {
            throw error
        } catch {
            throw .fileUnwritable
        }
    }

    /// Tries several times: listing downloads takes the lock for a moment to see whether it is free.
    private static func lock(_ file: borrowing FileDescriptor) throws(FileDescriptor.Failure) {
        for _ in 0..<10 {
            if SystemCalls.flock(file.number, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw FileDescriptor.Failure(errno: errno) }
            usleep(5000)
        }
        throw FileDescriptor.Failure(errno: EWOULDBLOCK)
    }

    private static func openPart(
        _ paths: DownloadPaths, _ directory: borrowing DownloadDirectory
    ) throws(ErrandError) -> FileDescriptor {
        let path = paths.path(paths.part)
        do throws(FileDescriptor.Failure) {
            // The last owner of the lock may have renamed or removed the file between the open and the lock; this lock
            // is then on another file. That many repetitions in a row are not a coincidence.
            for _ in 0..<16 {
                guard let file = try openOrMake(paths.part, directory) else { continue }
                try lock(file)
                guard try directory.isNamed(file, paths.part) else { continue }
                // Checked after the lock: some file systems rename by a link, and then the file has two names for a
                // moment.
                if try file.status().st_nlink <= 1 { return file }
                // The file has two names permanently if a process was killed in the middle of such a rename. It then
                // has its final name already.
                guard try directory.isNamed(file, paths.name) else { throw FileDescriptor.Failure(errno: EEXIST) }
                try directory.remove(paths.part)
            }
            throw FileDescriptor.Failure(errno: EWOULDBLOCK)
        } catch {
            if error.errno == EWOULDBLOCK {
                throw .file(.fileLocked, path, "is being written by another download", errno: error.errno)
            }
            if error.errno == EINVAL { throw .file(.fileUnwritable, path, "is not a regular file") }
            if error.errno == EEXIST {
                throw .file(.fileExists, path, "belongs to another user or has a second hard link")
            }
            throw .file(path, "cannot be opened", errno: error.errno)
        }
    }

    /// `nil`: the file existed and was removed meanwhile. EEXIST: the file belongs to another user, who may have it
    /// open and may continue to write to it. This can happen in a directory that everyone may write to.
    private static func openOrMake(
        _ name: String, _ directory: borrowing DownloadDirectory
    ) throws(FileDescriptor.Failure) -> FileDescriptor? {
        do throws(FileDescriptor.Failure) {
            // A file made here belongs to this download even if a network file system reports another owner.
            return try directory.open(name, O_RDWR | O_CREAT | O_EXCL, mode: 0o666)
        } catch {
            guard error.errno == EEXIST else { throw error }
        }
        guard let file = try directory.openExisting(name, O_RDWR) else { return nil }
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileDescriptor.Failure(errno: EINVAL) }
        guard directory.isOwn(status) else { throw FileDescriptor.Failure(errno: EEXIST) }
        return file
    }

    /// Writes the bytes, and syncs whenever `syncInterval` bytes are not safe yet.
    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(ErrandError) {
        if let failure { throw failure }
        if !journalFile.isBegun { try beginJournal() }
        var written = 0
        while written < bytes.count {
            let count = min(bytes.count - written, Int(clamping: syncInterval - unsynced.count))
            let start = offset + Int64(written)
            do {
                try file.write(UnsafeRawBufferPointer(rebasing: bytes[written..<written + count]), at: start)
            } catch {
                throw .file(paths.path(paths.part), "cannot be written", errno: error.errno)
            }
            unsynced.insert(start..<start + Int64(count))
            written += count
            if unsynced.count >= syncInterval { try sync(isDurable: false) }
        }
    }

    /// Written before the first byte: a part without a journal can be neither resumed nor removed.
    private mutating func beginJournal() throws(ErrandError) {
        do {
            try journalFile.write(journal, isDurable: true, to: paths, in: directory)
            isJournalBehind = false
        } catch {
            throw .file(paths.path(paths.journal), "cannot be written", errno: error.errno)
        }
    }

    /// All ranges in the part: the safe ones, and those that the next sync makes safe.
    var written: ByteRangeSet {
        var written = journal.safe
        written.formUnion(unsynced)
        return written
    }

    /// Makes all written bytes safe, then records that in the journal.
    mutating func sync() throws(ErrandError) { try sync(isDurable: true) }

    /// - Parameter isDurable: Whether the journal must survive a loss of power, not only the end of the process.
    private mutating func sync(isDurable: Bool) throws(ErrandError) {
        if let failure { throw failure }
        if !unsynced.isEmpty {
            let links: nlink_t
            do {
                links = try file.status().st_nlink
                try file.syncData()
            } catch {
                let failure = ErrandError.file(
                    paths.path(paths.part), "cannot be synced to disk", errno: error.errno)
                self.failure = failure
                throw failure
            }
            guard links > 0 else {
                throw .file(.fileUnwritable, paths.path(paths.part), "was deleted while it was written")
            }
            journal.safe.formUnion(unsynced)
            bytesSinceJournalSync += unsynced.count
            unsynced = ByteRangeSet()
            isJournalBehind = true
        }
        let isDurable = isDurable || bytesSinceJournalSync >= Self.journalInterval
        do {
            if isJournalBehind {
                try journalFile.write(journal, isDurable: isDurable, to: paths, in: directory)
                isJournalBehind = false
            } else if isDurable {
                try journalFile.sync()
            }
        } catch {
            throw .file(paths.path(paths.journal), "cannot be written", errno: error.errno)
        }
        if isDurable { bytesSinceJournalSync = 0 }
    }

    /// The last sync of a run that is not complete, as far as the disk allows it. On a full disk there may be no room
    /// for the journal; some bytes of the part are then given up to make room.
    mutating func keep() {
        // Done first: the journal may need some of the reserved space.
        giveBack()
        do {
            try sync()
        } catch {
            guard error == .diskFull, failure == nil else { return }
            for room in [0, 1 << 16] as [Int64] {
                let end = max(0, journal.safe.end - room)
                journal.safe = journal.safe.clipped(to: end)
                guard (try? file.truncate(to: end)) != nil else { continue }
                if (try? journalFile.write(journal, isDurable: true, to: paths, in: directory)) != nil { return }
            }
        }
    }

    /// Notes to which content the next written bytes belong; the next sync records this on disk.
    mutating func identify(_ validators: DownloadValidators, length: Int64?) {
        journal.validators = validators
        journal.length = length
    }

    /// Drops all bytes in the part.
    mutating func restart() throws(ErrandError) {
        if let failure { throw failure }
        do {
            try startOver()
        } catch {
            throw .file(paths.path(paths.part), "cannot be emptied", errno: error.errno)
        }
    }

    /// Writes the journal first and makes it durable. Even after a loss of power, there must be no journal beside bytes
    /// of another content, and no bytes without a journal.
    private mutating func startOver() throws(FileDescriptor.Failure) {
        journal = DownloadJournal(url: journal.url)
        let status = try file.status()
        if status.st_size > 0 {
            try journalFile.write(journal, isDurable: true, to: paths, in: directory)
            try file.truncate(to: 0)
            try file.sync()
        } else if status.st_blocks > 0 {
            // The space was reserved, perhaps by a run that was killed, and no byte was written.
            try file.truncate(to: 0)
        }
        reserved = 0
        try journalFile.remove(paths, in: directory)
        unsynced = ByteRangeSet()
        isJournalBehind = false
        bytesSinceJournalSync = 0
    }

    /// Reserves space for `length` bytes if the file system supports it. Throws ``ErrandError/diskFull`` if there
    /// is not enough space.
    mutating func reserve(_ length: Int64) throws(ErrandError) {
        guard length > 0 else { return }
        reserved = max(reserved, length)
        do {
            _ = try FileDescriptor.checked { Int(SystemCalls.reserve(file.number, off_t(length))) }
        } catch {
            let error = ErrandError.file(
                paths.path(paths.part), "cannot be extended to \(length) bytes", errno: error.errno)
            if error == .diskFull { throw error }
        }
    }

    /// Releases space that was reserved and not written; it would stay unusable as long as the file exists. Truncating
    /// a file to its present size frees the blocks behind its end (ext4, tmpfs); `FALLOC_FL_PUNCH_HOLE` does not free
    /// them on ext4. A failure only wastes space.
    private func giveBack() {
        guard let size = try? file.status().st_size, Int64(size) < reserved else { return }
        try? file.truncate(to: Int64(size))
    }

    /// The written bytes from `offset` on, at most `count`; fewer at the end of the file. For a digest.
    func read(_ count: Int, at offset: Int64) throws(ErrandError) -> [UInt8] {
        do {
            return try file.read(count, at: offset)
        } catch {
            throw .file(paths.path(paths.part), "cannot be read", errno: error.errno)
        }
    }

    /// Puts the file in its place, safe on disk. A reader of the destination finds either the old file or the whole new
    /// one. Throws ``ErrandError/fileExists`` because of `overwrite`.
    ///
    /// Returns: the path of the file, which `overwrite` may have changed.
    mutating func install(_ overwrite: OverwritePolicy = .replace) throws(ErrandError) -> String {
        try sync()
        // Space that was reserved for an earlier, longer content.
        giveBack()
        let installed: DownloadPaths
        do {
            try file.sync()
            installed = try move(overwrite)
        } catch {
            throw .file(paths.destination, "cannot be moved into place", errno: error.errno)
        }
        // The file is in place: no later failure undoes that. A journal without a part is ignored. If a part exists
        // again, another download has started since then and manages its own journal.
        if (try? directory.status(paths.part)) == nil {
            for name in [paths.journal, paths.newJournal] { _ = try? directory.remove(name) }
        }
        _ = try? directory.sync()
        return installed.destination
    }

    private func move(_ overwrite: OverwritePolicy) throws(FileDescriptor.Failure) -> DownloadPaths {
        switch overwrite {
        case .replace:
            try directory.rename(paths.part, to: paths.name)
            return paths
        case .fail:
            try directory.renameWithoutReplacing(paths.part, to: paths.name)
            return paths
        case .number:
            var candidate = paths
            for number in 1...10_000 {
                do throws(FileDescriptor.Failure) {
                    try directory.renameWithoutReplacing(paths.part, to: candidate.name)
                    return candidate
                } catch {
                    guard error.errno == EEXIST else { throw error }
                    candidate = paths.numbered(number)
                }
            }
            throw FileDescriptor.Failure(errno: EEXIST)
        }
    }

    /// Removes the part and its journal; they cannot be resumed.
    func discard() throws(ErrandError) {
        do {
            // The part first: without its journal it would count as foreign.
            try directory.remove(paths.part)
            try directory.removeJournal()
            try directory.remove(paths.newJournal)
        } catch {
            throw .file(paths.path(paths.part), "cannot be removed", errno: error.errno)
        }
    }
}
