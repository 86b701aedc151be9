import Glibc

/// The directory that a download goes to, held open: everything happens in that one, though it be renamed meanwhile.
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
            throw .file(paths.directory, "cannot be downloaded to", errno: error.errno)
        }
    }

    /// Never through a symbolic link: its target would be overwritten.
    func open(_ name: String, _ flags: Int32, mode: mode_t = 0) throws(FileDescriptor.Failure) -> FileDescriptor {
        let all = flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        return FileDescriptor(
            owning: Int32(try FileDescriptor.checked { Int(openat(descriptor.number, name, all, mode)) }))
    }

    /// `nil` where there is nothing.
    func openExisting(_ name: String, _ flags: Int32) throws(FileDescriptor.Failure) -> FileDescriptor? {
        do throws(FileDescriptor.Failure) {
            return try open(name, flags)
        } catch {
            guard error.errno == ENOENT else { throw error }
            return nil
        }
    }

    /// Of what the name stands for, a symbolic link itself included; `nil` where there is nothing.
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

    /// Whether it is this user's, or the directory's owner's, who may put anything there at any time: so it is where a file
    /// system shows one owner for all. In a directory that others may write to they may have put something there, too.
    func isOwn(_ status: stat) -> Bool {
        status.st_uid == geteuid() || (try? descriptor.status())?.st_uid == status.st_uid
    }

    /// Whether the name stands for that file, and not for another one by now.
    func isNamed(_ file: borrowing FileDescriptor, _ name: String) throws(FileDescriptor.Failure) -> Bool {
        let mine = try file.status()
        guard let there = try status(name) else { return false }
        return there.st_dev == mine.st_dev && there.st_ino == mine.st_ino
    }

    /// Whether there was something to remove.
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

    /// The same, but EEXIST where there is something already, be it since a moment ago.
    func renameWithoutReplacing(_ old: String, to new: String) throws(FileDescriptor.Failure) {
        let number = descriptor.number
        do {
            _ = try FileDescriptor.checked { Int(SystemCalls.renameWithoutReplacing(number, old, new)) }
        } catch {
            // File systems that do not know the flag. A hard link does not replace either.
            guard error.errno == EINVAL || error.errno == ENOSYS else { throw error }
            _ = try FileDescriptor.checked { Int(linkat(number, old, number, new, 0)) }
            try remove(old)
        }
    }

    /// Makes names last: renames and removals before it.
    func sync() throws(FileDescriptor.Failure) {
        do {
            try descriptor.sync()
        } catch {
            // File systems without such a thing.
            guard error.errno == EINVAL || error.errno == EROFS else { throw error }
        }
    }

    /// `nil` where there is none, or none that can be trusted.
    func readJournal() -> DownloadJournal? {
        DownloadJournalFile.read(paths, in: self)
    }

    /// Whether there is a part, or a journal, that no download of this user's has begun. What cannot be seen is not taken
    /// for one.
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
