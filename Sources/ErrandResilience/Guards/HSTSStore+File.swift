import Glibc

extension HSTSStore {
    /// More than any store writes: 2^20 lines of a long name each.
    private static let longestFile = 512 << 20

    /// Adds the hosts of a file that ``save(to:)`` or curl's `--hsts` has written; of two entries for a host, the later
    /// expiry stays. A file that does not exist has no hosts. Returns how many lines could not be read; these are left
    /// out.
    ///
    /// Throws ``ErrandError/fileUnreadable`` where the file cannot be read or is not a regular file, and
    /// ``ErrandError/invalidOption`` for a path that is empty or contains a NUL. Any thread; blocks while it reads.
    @discardableResult
    public func load(from path: String) throws(ErrandError) -> Int {
        try Self.check(path)
        guard let bytes = try Self.bytes(of: path) else { return 0 }
        return read(String(decoding: bytes, as: UTF8.self))
    }

    /// Writes the learned hosts to a file, in the format of ``text``. The list of one's own is not written.
    ///
    /// The text is written to a new file beside `path`, synced, and renamed to `path`. So a reader, a crash, a full disk
    /// or another process that saves at the same time leaves a whole file, that of the last save. A save does not keep
    /// what other processes have saved: ``load(from:)`` takes that over.
    ///
    /// Throws `diskFull`, `directoryMissing`, `fileAccessDenied`, `fileIsDirectory` or ``ErrandError/fileUnwritable``;
    /// the former file is then as it was. Throws ``ErrandError/invalidOption`` for a path that is empty or contains a
    /// NUL. Any thread; blocks while it writes.
    public func save(to path: String) throws(ErrandError) {
        try Self.check(path)
        let temporary = "\(path).\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 16))"
        let file = Self.repeated { open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        guard file >= 0 else { throw .file(path, "cannot be written", errno: errno) }
        var failure: Int32?
        if !Self.write(Array(text.utf8), to: file) || Self.repeated({ fsync(file) }) != 0 { failure = errno }
        if close(file) != 0, failure == nil, errno != EINTR { failure = errno }
        if failure == nil, rename(temporary, path) != 0 { failure = errno }
        if let failure {
            unlink(temporary)
            throw .file(path, "cannot be written", errno: failure)
        }
        Self.syncDirectory(of: path)
    }

    private static func check(_ path: String) throws(ErrandError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw ErrandError.invalidOption.with(message: "the path of the HSTS file is empty or contains a NUL")
        }
    }

    /// `nil`: there is no such file.
    private static func bytes(of path: String) throws(ErrandError) -> [UInt8]? {
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
            guard bytes.count + count <= longestFile else { throw unreadable("is larger than 512 MiB") }
            bytes += chunk[..<count]
        }
    }

    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
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
