package import Glibc

/// Files that are read as a whole, and replaced as a whole. Each function blocks while it reads or writes.
package enum WholeFile {
    /// Throws ``ErrandError/invalidOption`` for a path that no file can have. `what`: the file's part in the message.
    package static func check(_ path: String, of what: String) throws(ErrandError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw ErrandError.invalidOption.with(message: "the path of \(what) is empty or contains a NUL")
        }
    }

    /// The bytes of a file; `nil`: there is no such file. Throws ``ErrandError/fileUnreadable`` if the file cannot be
    /// read, is not a regular file, or has more than `limit` bytes.
    package static func bytes(of path: String, atMost limit: Int) throws(ErrandError) -> [UInt8]? {
        func unreadable(_ problem: String, errno number: Int32 = 0) -> ErrandError {
            .file(.fileUnreadable, path, problem, errno: number)
        }
        // O_NONBLOCK: opening a pipe would wait for its writer.
        let file = repeated { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        if file < 0, errno == ENOENT { return nil }
        guard file >= 0 else { throw unreadable("cannot be opened: \(SystemError(errno).text)", errno: errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw unreadable("is not a regular file")
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = repeated { Glibc.read(file, &chunk, chunk.count) }
            guard count >= 0 else { throw unreadable("cannot be read: \(SystemError(errno).text)", errno: errno) }
            if count == 0 { return bytes }
            guard bytes.count + count <= limit else { throw unreadable("is larger than \(size(limit))") }
            bytes += chunk[..<count]
        }
    }

    private static func size(_ limit: Int) -> String {
        limit > 0 && limit.isMultiple(of: 1 << 20) ? "\(limit >> 20) MiB" : "\(limit) bytes"
    }

    /// Writes the bytes to a new file beside `path`, syncs it, and renames it to `path`. So a reader always gets a whole
    /// file. A crash, a full disk or another process that writes at the same time leaves the whole file of the last write.
    ///
    /// If `path` is a symbolic link, the file that the link leads to is replaced, and the link stays. The new file has
    /// the group and the permissions of the file that it replaces. If this process may not give a file to that group, the
    /// new file's group may do no more than everybody. `mode`: the permissions if there is no file to replace.
    ///
    /// Throws `diskFull`, `directoryMissing`, `fileAccessDenied`, `fileIsDirectory` or ``ErrandError/fileUnwritable``,
    /// and `fileExists` for another user's link in a directory such as /tmp; the former file is then as it was.
    package static func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o600) throws(ErrandError) {
        let target = try SymbolicLink.target(of: path)
        let temporary = "\(target).\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 16))"
        let file = repeated { open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
        guard file >= 0 else { throw .file(path, "cannot be written", errno: errno) }
        var failure: Int32?
        if !copyPermissions(of: target, to: file) || !write(bytes, into: file) || repeated({ fsync(file) }) != 0 {
            failure = errno
        }
        if close(file) != 0, failure == nil, errno != EINTR { failure = errno }
        if failure == nil, rename(temporary, target) != 0 { failure = errno }
        if let failure {
            unlink(temporary)
            throw .file(path, "cannot be written", errno: failure)
        }
        syncDirectory(of: target)
    }

    /// Gives a new file the group and the permissions of the file that it replaces, if there is one. Returns false, with
    /// `errno`, if the new file would be open to more users.
    private static func copyPermissions(of path: String, to file: Int32) -> Bool {
        var former = stat()
        guard stat(path, &former) == 0, former.st_mode & S_IFMT == S_IFREG else { return true }
        var made = stat()
        guard fstat(file, &made) == 0 else { return false }
        var mode = former.st_mode & 0o777
        // The former group's permissions are not for the group of this process. The largest number leaves the owner as it
        // is.
        if made.st_gid != former.st_gid, fchown(file, .max, former.st_gid) != 0 {
            mode &= 0o707 | (mode & 0o007) << 3
        }
        if fchmod(file, mode) == 0 { return true }
        // File systems without permissions, such as FAT, say EPERM.
        guard errno == EPERM, fstat(file, &made) == 0 else { return false }
        if made.st_mode & 0o777 & ~mode == 0 { return true }
        errno = EPERM
        return false
    }

    private static func write(_ bytes: [UInt8], into file: Int32) -> Bool {
        bytes.withUnsafeBytes { all in
            var rest = all[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = repeated { Glibc.write(file, part.baseAddress, part.count) }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// After a power failure the name would otherwise lead to the former file.
    private static func syncDirectory(of path: String) {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        _ = fsync(directory)
        close(directory)
    }

    /// Repeats a call that a signal interrupts.
    private static func repeated<Number: SignedInteger>(_ call: () -> Number) -> Number {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}
