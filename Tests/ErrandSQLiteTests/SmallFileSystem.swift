import ErrandTesting
import Foundation
import Glibc

/// A file system of few bytes, in memory, which goes with the object. Needs the right to mount.
final class SmallFileSystem {
    let path: String

    init(at path: String, bytes: Int) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(bytes)") == 0 else { throw NoValue() }
        self.path = path
    }

    deinit {
        // MNT_DETACH: a store that a failed test left open does not keep it.
        umount2(path, 2)
    }

    private var filler: String { path + "/filler" }

    /// Takes all of its bytes.
    func fill() throws {
        let file = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw NoValue() }
        defer { close(file) }
        let page = [UInt8](repeating: 1, count: 4096)
        while write(file, page, page.count) > 0 {}
    }

    /// Gives them back. Not at once where a child that another test forks has the descriptor until it has called `exec`.
    func empty() throws {
        var status = stat()
        guard stat(filler, &status) == 0, unlink(filler) == 0 else { throw NoValue() }
        let bytes = UInt64(status.st_blocks) * 512
        try blockUntil("\(bytes) bytes are free") { room >= bytes }
    }

    private var room: UInt64 {
        var status = statvfs()
        return statvfs(path, &status) == 0 ? UInt64(status.f_bfree) * UInt64(status.f_frsize) : 0
    }

    static let isAllowed: Bool = {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("errand-mount-\(UUID().uuidString)")
            .path
        defer { rmdir(path) }
        return getuid() == 0 && (try? SmallFileSystem(at: path, bytes: 1 << 16)) != nil
    }()
}
