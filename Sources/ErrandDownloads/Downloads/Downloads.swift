import FoundationEssentials
import Glibc

/// What downloads have left unfinished: `name.part`, and `name.part.journal` beside it.
///
/// The functions read directories and block on the disk meanwhile; any thread but the callback queue's.
public enum Downloads {
    /// The unfinished downloads in a directory, by name. A `.part` without a journal of this library is somebody else's, and
    /// so is what belongs to another user.
    ///
    /// Throws ``ErrandError/directoryMissing``, ``ErrandError/fileAccessDenied``, ``ErrandError/fileUnwritable``.
    public static func unfinished(in directory: String) throws(ErrandError) -> [UnfinishedDownload] {
        var found: [UnfinishedDownload] = []
        for name in try DownloadDirectory.names(in: directory) {
            guard let paths = DownloadPaths(journal: name, in: directory) else { continue }
            if let download = try LeftPart(paths)?.download { found.append(download) }
        }
        return found
    }

    /// Removes the unfinished downloads in a directory that nobody writes, and answers them. They begin from zero then.
    ///
    /// Throws as ``unfinished(in:)``.
    ///
    /// - Parameters:
    ///   - directory: The directory that is searched, without its subdirectories.
    ///   - age: Only downloads of which nothing was written for this long. Default, `nil`: all.
    @discardableResult
    public static func clean(
        in directory: String, olderThan age: Duration? = nil
    ) throws(ErrandError) -> [UnfinishedDownload] {
        try clean(in: directory, olderThan: age, now: Date())
    }

    static func clean(
        in directory: String, olderThan age: Duration?, now: Date
    ) throws(ErrandError) -> [UnfinishedDownload] {
        var removed: [UnfinishedDownload] = []
        for name in try DownloadDirectory.names(in: directory) {
            guard let paths = DownloadPaths(journal: name, in: directory), let left = try LeftPart(paths),
                left.isRemovable
            else { continue }
            if let age, now.timeIntervalSince(left.download.lastWritten) < age / .seconds(1) { continue }
            try left.remove()
            removed.append(left.download)
        }
        return removed
    }
}

/// A part and its journal, locked where nobody else has it.
private struct LeftPart: ~Copyable {
    let download: UnfinishedDownload
    private let paths: DownloadPaths
    private let directory: DownloadDirectory
    /// With the lock; `nil`: another has it, or it may not be opened.
    private let part: FileDescriptor?
    /// Nobody writes it: it is locked here, or there is a journal alone.
    let isRemovable: Bool

    /// `nil` where there is no journal that can be read, or one or the other is another user's.
    init?(_ paths: DownloadPaths) throws(ErrandError) {
        self.paths = paths
        directory = try DownloadDirectory(paths)
        guard let journal = directory.readJournal(), let written = try? directory.status(paths.journal) else {
            return nil
        }
        var size: Int64 = 0
        var isRunning = false
        var isAlone = false
        var part: FileDescriptor?
        do throws(FileDescriptor.Failure) {
            part = try directory.open(paths.part, O_RDWR)
        } catch {
            isAlone = error.errno == ENOENT
        }
        if let status = try? part?.status() {
            // Not the one that the journal speaks of.
            guard directory.isOwn(status) else { return nil }
            size = Int64(status.st_size)
        }
        if let descriptor = part?.number, SystemCalls.flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            isRunning = true
            part = nil
        }
        isRemovable = isAlone || part != nil
        self.part = part
        let time = written.st_mtim
        download = UnfinishedDownload(
            path: paths.destination, url: journal.url, byteCount: journal.safe.clipped(to: size).count,
            length: journal.length,
            lastWritten: Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9),
            isRunning: isRunning)
    }

    deinit {
        // As `PartFile`: a child that is just forked has the descriptor, too.
        if let part { _ = SystemCalls.flock(part.number, LOCK_UN) }
    }

    func remove() throws(ErrandError) {
        do throws(FileDescriptor.Failure) {
            // As `PartFile.discard`.
            try directory.remove(paths.part)
            try directory.removeJournal()
            try directory.remove(paths.newJournal)
        } catch {
            throw .file(paths.path(paths.part), "cannot be removed", errno: error.errno)
        }
    }
}
