import Glibc

/// The directory of a download, held open: all operations go to that directory even if it is renamed meanwhile.
struct DownloadDirectory: ~Copyable {
    private let descriptor: FileDescriptor
    private let paths: DownloadPaths

    init(_ paths: DownloadPaths) throws(ErrandError) {
        self.paths = paths
        do {
            let number = try FileDescriptor.checked {
                Int(Glibc.open(paths.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
            }
            descriptor = FileDescriptor(owning: Int32(number))
        } catch {
            throw .file(paths.directory, "cannot be used as a download directory", errno: error.errno)
        }
    }

    /// Never follows a symbolic link: that would overwrite its target.
    func open(_ name: String, _ flags: Int32, mode: mode_t = 0) throws(FileDescriptor.Failure) -> FileDescriptor {
        let all = flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        return FileDescriptor(
            owning: Int32(try FileDescriptor.checked { Int(openat(descriptor.number, name, all, mode)) }))
    }

    /// `nil` if the file does not exist.
    func openExisting(_ name: String, _ flags: Int32) throws(FileDescriptor.Failure) -> FileDescriptor? {
        do throws(FileDescriptor.Failure) {
            return try open(name, flags)
        } catch {
            guard error.errno == ENOENT else { throw error }
            return nil
        }
    }

    /// The status of the named entry itself, even if it is a symbolic link; `nil` if it does not exist.
    func status(_ name: String) throws(FileDescriptor.Failure) -> stat? {
        var status = stat()
        do {
            _ = try FileDescriptor.checked { Int(fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW)) }
            return status
        } catch {
            guard error.errno == ENOENT else { throw error }
            return nil
        }
    }

    /// Whether the file belongs to this user, or to the owner of the directory, who may put any file there at any time.
    /// The latter is the case on file systems that show one owner for all files. In a directory that others may write
    /// to, the others may have put the file there, too.
    func isOwn(_ status: stat) -> Bool {
        status.st_uid == geteuid() || (try? descriptor.status())?.st_uid == status.st_uid
    }

    /// Whether the name still belongs to that file and not to another one.
    func isNamed(_ file: borrowing FileDescriptor, _ name: String) throws(FileDescriptor.Failure) -> Bool {
        let own = try file.status()
        guard let there = try status(name) else { return false }
        return there.st_dev == own.st_dev && there.st_ino == own.st_ino
    }

    /// Returns whether there was a file to remove.
    @discardableResult
    func remove(_ name: String) throws(FileDescriptor.Failure) -> Bool {
        do {
            _ = try FileDescriptor.checked { Int(unlinkat(descriptor.number, name, 0)) }
            return true
        } catch {
            guard error.errno == ENOENT else { throw error }
            return false
        }
    }

    func rename(_ old: String, to new: String) throws(FileDescriptor.Failure) {
        let number = descriptor.number
        _ = try FileDescriptor.checked { Int(renameat(number, old, number, new)) }
    }

    /// The same, but fails with EEXIST if the new name exists, even if it was created a moment ago.
    func renameWithoutReplacing(_ old: String, to new: String) throws(FileDescriptor.Failure) {
        let number = descriptor.number
        do {
            _ = try FileDescriptor.checked { Int(SystemCalls.renameWithoutReplacing(number, old, new)) }
        } catch {
            // The file system does not support the flag. A hard link does not replace a file either.
            guard error.errno == EINVAL || error.errno == ENOSYS else { throw error }
            _ = try FileDescriptor.checked { Int(linkat(number, old, number, new, 0)) }
            try remove(old)
        }
    }

    /// Makes earlier renames and removals durable.
    func sync() throws(FileDescriptor.Failure) {
        do {
            try descriptor.sync()
        } catch {
            // The file system cannot sync a directory.
            guard error.errno == EINVAL || error.errno == EROFS else { throw error }
        }
    }

    /// `nil` if there is no journal, or none that can be trusted.
    func readJournal() -> DownloadJournal? {
        DownloadJournalFile.read(paths, in: self)
    }

    /// Whether there is a part or a journal that no download of this user has started. Files whose status cannot be
    /// read do not count.
    func hasForeignPart(_ paths: DownloadPaths) -> Bool {
        do throws(FileDescriptor.Failure) {
            let journal = try status(paths.journal)
            if let journal, !isOwn(journal) { return true }
            guard let part = try status(paths.part) else { return false }
            return !isOwn(part) || part.st_nlink > 1 || part.st_size > 0 && journal == nil
        } catch {
            return false
        }
    }

    func removeJournal() throws(FileDescriptor.Failure) {
        if try remove(paths.journal) { try sync() }
    }
}
