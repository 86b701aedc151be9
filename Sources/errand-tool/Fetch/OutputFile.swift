import Foundation

/// The file of `-o`. Bytes go to `FILE.part`, which takes the name when the download is whole, so that nobody finds
/// half a file under it. Devices and pipes are written in place. One owner at a time; blocks, so not for loop threads.
struct OutputFile: ~Copyable {
    private let path: String
    private let partial: String?
    private var descriptor: Int32
    private(set) var written: UInt64 = 0

    struct Failure: Error {
        let reason: String

        init() {
            reason = String(cString: strerror(errno))
        }
    }

    init(_ path: String) throws(Failure) {
        self.path = path
        var status = stat()
        let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        partial = isSpecial ? nil : path + ".part"
        let flags = O_WRONLY | O_CLOEXEC | (isSpecial ? 0 : O_CREAT | O_TRUNC)
        descriptor = open(partial ?? path, flags, 0o666)
        guard descriptor >= 0 else { throw Failure() }
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        var rest = bytes
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = Foundation.write(descriptor, base, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw Failure()
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            written += UInt64(count)
        }
    }

    /// Gives the file its name.
    mutating func finish() throws(Failure) {
        let failed = close(descriptor) != 0
        descriptor = -1
        guard !failed else { throw Failure() }
        if let partial, rename(partial, path) != 0 { throw Failure() }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        if let partial { unlink(partial) }
    }
}
