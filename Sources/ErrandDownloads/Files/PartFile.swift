import Glibc

/// The `.part` file of a download and the journal beside it, on disk in step: what the journal calls safe is, and of what
/// was written never more than `syncInterval` bytes are not called safe yet.
///
/// One owner at a time in all processes (`flock`), one thread at a time in this. Every call may block on the disk. All
/// errors leave both files for the next try. The process should ignore SIGXFSZ where it runs under a limit of file size;
/// then that limit is ``ErrandError/diskFull``, too.
struct PartFile: ~Copyable {
    let paths: DownloadPaths
    private let directory: DownloadDirectory
    private let file: FileDescriptor
    private let syncInterval: Int64
    /// What is on disk, or will be with the next sync.
    private(set) var journal: DownloadJournal
    private var journalFile = DownloadJournalFile()
    /// The last word of ``journal`` did not make it to the disk.
    private var isJournalBehind = false
    /// Made safe since the journal was last synced.
    private var unsyncedWords: Int64 = 0
    /// Written since the last sync.
    private var unsynced = ByteRangeSet()
    /// Room for so many bytes was asked for in this run.
    private var reserved: Int64 = 0
    /// Of the first sync that failed. The kernel has then dropped pages that it could not write and marked them clean, so
    /// that the next sync would succeed and mean nothing.
    private var failure: ErrandError?

    /// A little less than 1 MB, and whole pages.
    static let syncInterval: Int64 = 15 << 16
    /// The journal itself is synced each so many bytes: what it says is true whether it is on the disk or not, and only a
    /// loss of power can tell.
    private static let journalInterval: Int64 = 16 << 20

    /// Opens or creates the part and takes the lock. What an earlier run left is kept as far as its journal calls it
    /// safe and is of `url`; all else is cut off. The answer is in ``journal``. A file of that name that has bytes and no
    /// journal of this user's, belongs to another user or has a second name is somebody else's, and stays as it is.
    ///
    /// Throws ``ErrandError/fileLocked`` where another download has it, ``ErrandError/directoryMissing``,
    /// ``ErrandError/fileAccessDenied``, ``ErrandError/fileIsDirectory`` (the destination or the part),
    /// ``ErrandError/fileExists`` by `overwrite` or where the part is somebody else's, ``ErrandError/diskFull``,
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
            if try part.isSomebodyElses() {
                throw ErrandError.file(.fileExists, paths.path(paths.part), "is there, and no download's")
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
        // Closing would do, but for a child that another thread forks at this moment: until it has called `exec` it has
        // the descriptor, and with that the lock, too.
        _ = SystemCalls.flock(file.number, LOCK_UN)
    }

    /// Ours has a journal, whole or not, from before its first byte until it has another name.
    private func isSomebodyElses() throws(FileDescriptor.Failure) -> Bool {
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
        // Before anything is written where the old one says that it is there.
        if journal != found { try journalFile.write(journal, isDurable: true, to: paths, in: directory) }
    }

    private static func checkDestination(
        _ paths: DownloadPaths, _ directory: borrowing DownloadDirectory, _ overwrite: OverwritePolicy
    ) throws(ErrandError) {
        if case .number = overwrite { return }
        do {
            guard let there = try directory.status(paths.name) else { return }
            if there.st_mode & S_IFMT == S_IFDIR {
                throw ErrandError.file(.fileIsDirectory, paths.destination, "is a directory")
            }
            if case .fail = overwrite { throw ErrandError.file(.fileExists, paths.destination, "exists already") }
            guard there.st_mode & S_IFMT == S_IFREG else {
                let kind = there.st_mode & S_IFMT == S_IFLNK ? "a symbolic link" : "no regular file"
                throw ErrandError.file(.fileExists, paths.destination, "is \(kind), and not to be replaced by one")
            }
        } catch let error as FileDescriptor.Failure {
            throw .file(paths.destination, "cannot be written", errno: error.errno)
        } catch let error as ErrandError {
            throw error
        } catch {
            throw .fileUnwritable
        }
    }

    /// Whoever lists downloads has the lock for a moment, to see whether it is free.
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
            // Whoever had the lock may have renamed or removed what was opened before the lock was free: then this one
            // holds the lock of another file. So many of them in a row are no coincidence.
            for _ in 0..<16 {
                guard let file = try openOrMake(paths.part, directory) else { continue }
                try lock(file)
                guard try directory.isNamed(file, paths.part) else { continue }
                // Not before it is locked: some file systems rename by a link, and then it has two names for a moment.
                if try file.status().st_nlink <= 1 { return file }
                // Or for good, where one was killed in the middle of that: then the file has its name already.
                guard try directory.isNamed(file, paths.name) else { throw FileDescriptor.Failure(errno: EEXIST) }
                try directory.remove(paths.part)
            }
            throw FileDescriptor.Failure(errno: EWOULDBLOCK)
        } catch {
            if error.errno == EWOULDBLOCK {
                throw .file(.fileLocked, path, "is being written by another download", errno: error.errno)
            }
            if error.errno == EINVAL { throw .file(.fileUnwritable, path, "is no regular file") }
            if error.errno == EEXIST { throw .file(.fileExists, path, "is another user's, or has a second name") }
            throw .file(path, "cannot be opened", errno: error.errno)
        }
    }

    /// `nil`: it was there, and was removed in between. EEXIST: it is another user's, who may have it open and go on
    /// writing, as in a directory that all may write to.
    private static func openOrMake(
        _ name: String, _ directory: borrowing DownloadDirectory
    ) throws(FileDescriptor.Failure) -> FileDescriptor? {
        do throws(FileDescriptor.Failure) {
            // What is made here is ours, also where a network's file system says that it is somebody else's.
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

    /// Writes, and syncs whenever that many bytes are not safe yet.
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

    /// Before the first byte: a part without one is nobody's to go on with, or to remove.
    private mutating func beginJournal() throws(ErrandError) {
        do {
            try journalFile.write(journal, isDurable: true, to: paths, in: directory)
            isJournalBehind = false
        } catch {
            throw .file(paths.path(paths.journal), "cannot be written", errno: error.errno)
        }
    }

    /// All that is there: what is safe, and what will be with the next sync.
    var written: ByteRangeSet {
        var written = journal.safe
        written.formUnion(unsynced)
        return written
    }

    /// Makes everything that was written safe, then says so in the journal.
    mutating func sync() throws(ErrandError) { try sync(isDurable: true) }

    /// - Parameter isDurable: Whether the journal's word must outlive a loss of power, too, and not only the process.
    private mutating func sync(isDurable: Bool) throws(ErrandError) {
        if let failure { throw failure }
        if !unsynced.isEmpty {
            let links: nlink_t
            do {
                links = try file.status().st_nlink
                try file.syncData()
            } catch {
                let failure = ErrandError.file(
                    paths.path(paths.part), "cannot be written to the disk", errno: error.errno)
                self.failure = failure
                throw failure
            }
            guard links > 0 else {
                throw .file(.fileUnwritable, paths.path(paths.part), "was removed while it was written")
            }
            journal.safe.formUnion(unsynced)
            unsyncedWords += unsynced.count
            unsynced = ByteRangeSet()
            isJournalBehind = true
        }
        let isDurable = isDurable || unsyncedWords >= Self.journalInterval
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
        if isDurable { unsyncedWords = 0 }
    }

    /// The last sync of a run that does not come to its end, as far as the disk lets it. On a full one the journal may be
    /// what has no room: then some of the bytes make it.
    mutating func keep() {
        // First: the journal may need some of it.
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

    /// Which content it is that will be written; the next sync says so on disk.
    mutating func identify(_ validators: DownloadValidators, length: Int64?) {
        journal.validators = validators
        journal.length = length
    }

    /// Nothing of what is there is wanted any more.
    mutating func restart() throws(ErrandError) {
        if let failure { throw failure }
        do {
            try startOver()
        } catch {
            throw .file(paths.path(paths.part), "cannot be emptied", errno: error.errno)
        }
    }

    /// The journal first, and for good: it must never be found beside bytes of another content, nor bytes without one,
    /// after a loss of power neither.
    private mutating func startOver() throws(FileDescriptor.Failure) {
        journal = DownloadJournal(url: journal.url)
        let status = try file.status()
        if status.st_size > 0 {
            try journalFile.write(journal, isDurable: true, to: paths, in: directory)
            try file.truncate(to: 0)
            try file.sync()
        } else if status.st_blocks > 0 {
            // Reserved, perhaps by a run that was killed, and not a byte came.
            try file.truncate(to: 0)
        }
        reserved = 0
        try journalFile.remove(paths, in: directory)
        unsynced = ByteRangeSet()
        isJournalBehind = false
        unsyncedWords = 0
    }

    /// Asks the file system for room for so many bytes, where it knows how. Throws ``ErrandError/diskFull`` where there is
    /// not so much.
    mutating func reserve(_ length: Int64) throws(ErrandError) {
        guard length > 0 else { return }
        reserved = max(reserved, length)
        do {
            _ = try FileDescriptor.checked { Int(SystemCalls.reserve(file.number, off_t(length))) }
        } catch {
            let error = ErrandError.file(
                paths.path(paths.part), "cannot become \(length) bytes long", errno: error.errno)
            if error == .diskFull { throw error }
        }
    }

    /// Gives back what was reserved and not written: nobody else could use it as long as the file is there. A file that is
    /// cut to the size that it has loses the blocks behind its end (ext4, tmpfs); `FALLOC_FL_PUNCH_HOLE` leaves those on
    /// ext4. Where that fails it costs room and nothing else.
    private func giveBack() {
        guard let size = try? file.status().st_size, Int64(size) < reserved else { return }
        try? file.truncate(to: Int64(size))
    }

    /// What was written from `offset` on, at most `count` bytes; fewer at the end of the file. For a digest.
    func read(_ count: Int, at offset: Int64) throws(ErrandError) -> [UInt8] {
        do {
            return try file.read(count, at: offset)
        } catch {
            throw .file(paths.path(paths.part), "cannot be read again", errno: error.errno)
        }
    }

    /// Puts the file in its place, safe on disk. Whoever opens the destination finds the old file or the whole new one.
    /// Throws ``ErrandError/fileExists`` by `overwrite`.
    ///
    /// Returns: its path, which `overwrite` may have changed.
    mutating func install(_ overwrite: OverwritePolicy = .replace) throws(ErrandError) -> String {
        try sync()
        // Of a longer content that was promised before this one.
        giveBack()
        let installed: DownloadPaths
        do {
            try file.sync()
            installed = try move(overwrite)
        } catch {
            throw .file(paths.destination, "cannot be put in place", errno: error.errno)
        }
        // It is in place: no failure from here on makes it undone. A journal without a part counts for nothing.
        // Where there is a part again, another download has begun since, and has seen to its journal itself.
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

    /// Removes the part and its journal: nobody will go on with them.
    func discard() throws(ErrandError) {
        do {
            // The part first: without a journal it would be taken for somebody else's.
            try directory.remove(paths.part)
            try directory.removeJournal()
            try directory.remove(paths.newJournal)
        } catch {
            throw .file(paths.path(paths.part), "cannot be removed", errno: error.errno)
        }
    }
}
