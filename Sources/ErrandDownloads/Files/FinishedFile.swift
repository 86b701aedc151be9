import Glibc

/// The file that exists at a download's destination, while it is compared with the expected digest. Used on the file
/// queue only.
final class FinishedFile {
    let path: String
    private let file: FileDescriptor
    private var hash: SHA256
    private(set) var byteCount: Int64 = 0

    private static let block = 1 << 18

    /// `nil` if there is no readable regular file.
    init?(_ paths: DownloadPaths) {
        guard let directory = try? DownloadDirectory(paths), let file = try? directory.open(paths.name, O_RDONLY),
            let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG, let hash = SHA256()
        else { return nil }
        path = paths.destination
        self.file = file
        self.hash = hash
    }

    /// Reads on, at most `count` bytes. Returns the SHA-256 at the end of the file.
    func follow(atMost count: Int64) throws(ErrandError) -> String? {
        let stop = byteCount + count
        while byteCount < stop {
            let bytes: [UInt8]
            do throws(FileDescriptor.Failure) {
                bytes = try file.read(Self.block, at: byteCount)
            } catch {
                throw .file(path, "cannot be read", errno: error.errno)
            }
            if bytes.isEmpty {
                guard let digest = hash.digest() else { throw .outOfMemory }
                return SHA256.hex(digest)
            }
            guard hash.update(bytes) else { throw .outOfMemory }
            byteCount += Int64(bytes.count)
        }
        return nil
    }
}
