import Glibc

/// The identity, size and times of the file at a path: enough to detect that it was replaced or rewritten.
struct FileStamp: Sendable, Equatable {
    private let device, inode: UInt64
    private let size: Int
    private let modified, changed: [Int]

    /// `nil` if there is no file. Calls the file system.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int(status.st_size)
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
