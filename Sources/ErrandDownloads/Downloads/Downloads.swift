public import FoundationEssentials
import Glibc

/// The unfinished downloads of a directory: `name.part`, and `name.part.journal` beside it.
///
/// The functions read directories and block on the disk. They may be called on any thread except the callback queue's.
public enum Downloads {
    /// Returns the unfinished downloads in a directory, sorted by name. A `.part` without a journal of this library is
    /// ignored, and so are files that belong to another user.
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

    /// Removes the unfinished downloads in a directory, except those that a process is writing, and returns the removed
    /// ones. A later run of such a download starts from zero.
    ///
    /// Throws the same errors as ``unfinished(in:)``.
    ///
    /// - Parameters:
    ///   - directory: The directory that is searched, without its subdirectories.
    ///   - age: Removes only downloads that have not been written for this long. Default, `nil`: all.
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

/// A part file and its journal. The part is locked unless another process holds the lock.
private struct LeftPart: ~Copyable {
    let download: UnfinishedDownload
    private let paths: DownloadPaths
    private let directory: DownloadDirectory
    /// Holds the lock; `nil`: another process holds it, or the file may not be opened.
    private let part: FileDescriptor?
    /// No process writes the download: the part is locked here, or there is only a journal.
    let isRemovable: Bool

    /// `nil` if there is no readable journal, or if the part or the journal belongs to another user.
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
            // The journal does not describe this file.
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
        // As in `PartFile`: a process that was just forked holds the descriptor, too.
        if let part { _ = SystemCalls.flock(part.number, LOCK_UN) }
    }

    func remove() throws(ErrandError) {
        do throws(FileDescriptor.Failure) {
            // The same order as in `PartFile.discard`.
            try directory.remove(paths.part)
            try directory.removeJournal()
            try directory.remove(paths.newJournal)
        } catch {
            throw .file(paths.path(paths.part), "cannot be removed", errno: error.errno)
        }
    }
}

/// A download that was started and is not complete; found by ``Downloads``.
public struct UnfinishedDownload: Sendable, Hashable {
    /// The path of the finished file.
    public let path: String
    /// The requested URL, before redirects. It may contain secrets.
    public let url: String
    /// The number of bytes that are safe on disk; these are not fetched again.
    public let byteCount: Int64
    /// The length of the whole file; `nil` if the server has not announced it.
    public let length: Int64?
    /// The time when bytes were last made safe on disk.
    public let lastWritten: Date
    /// Whether a download of this or another process is writing the file now.
    public let isRunning: Bool
}
