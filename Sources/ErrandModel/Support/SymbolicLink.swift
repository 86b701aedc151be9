import Glibc

/// Symbolic links at the path of a file that is replaced.
package enum SymbolicLink {
    /// The file that writing to `path` would change: a link is followed and stays a link, as in other programs. In a
    /// directory such as /tmp a link is followed only if it belongs to this user or to the owner of the directory,
    /// as the kernel does with `fs.protected_symlinks`.
    ///
    /// Throws ``ErrandError/fileUnwritable`` for a cycle and for a link whose text is not UTF-8, and
    /// ``ErrandError/fileExists`` for another user's link.
    package static func target(of path: String) throws(ErrandError) -> String {
        var path = path
        // The number of links that Linux follows.
        for _ in 0..<40 {
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let bytes = read(path) else {
                return path
            }
            // A repaired text would be the name of another file.
            guard let target = String(validating: bytes, as: UTF8.self) else {
                throw .file(.fileUnwritable, path, "is a symbolic link to a name that is not UTF-8")
            }
            let directory = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "./"
            guard status.st_uid == geteuid() || !isShared(directory, notOwnedBy: status.st_uid) else {
                throw .file(.fileExists, path, "is another user's symbolic link")
            }
            path = target.utf8.first == UInt8(ascii: "/") ? target : directory + target
        }
        throw .file(path, "cannot be written", errno: ELOOP)
    }

    /// Whether everyone may write to the directory but remove only their own files, and the directory does not belong
    /// to `user`.
    private static func isShared(_ directory: String, notOwnedBy user: uid_t) -> Bool {
        var status = stat()
        guard stat(directory, &status) == 0 else { return false }
        return status.st_mode & S_ISVTX != 0 && status.st_mode & S_IWOTH != 0 && status.st_uid != user
    }

    /// The text of a link; `nil`: it cannot be read.
    private static func read(_ path: String) -> [UInt8]? {
        let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            let base = UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: CChar.self)
            count = base.map { max(0, readlink(path, $0, buffer.count)) } ?? 0
        }
        return target.isEmpty ? nil : target
    }
}
