import Glibc

/// Symbolic links at a download's destination.
enum DownloadLink {
    /// Where writing to `path` ends up: a link is written through, as other programs do, and stays one. As with
    /// `fs.protected_symlinks`, a link that another user has put there is not followed, unless the directory is theirs.
    ///
    /// Throws ``ErrandError/fileUnwritable`` for a circle, ``ErrandError/fileExists`` for another user's link.
    static func target(of path: String) throws(ErrandError) -> String {
        var path = path
        // As many as Linux follows.
        for _ in 0..<40 {
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let target = read(path) else {
                return path
            }
            let directory = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "./"
            var owner = stat()
            guard status.st_uid == geteuid() || stat(directory, &owner) == 0 && owner.st_uid == status.st_uid else {
                throw .file(.fileExists, path, "is another user's symbolic link")
            }
            path = target.utf8.first == UInt8(ascii: "/") ? target : directory + target
        }
        throw .file(path, "cannot be written", errno: ELOOP)
    }

    private static func read(_ path: String) -> String? {
        let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            let base = UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: CChar.self)
            count = base.map { max(0, readlink(path, $0, buffer.count)) } ?? 0
        }
        return target.isEmpty ? nil : String(decoding: target, as: UTF8.self)
    }
}
