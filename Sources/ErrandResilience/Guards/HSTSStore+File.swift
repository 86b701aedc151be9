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
        try WholeFile.check(path, of: "the HSTS file")
        guard let bytes = try WholeFile.bytes(of: path, atMost: Self.longestFile) else { return 0 }
        return read(String(decoding: bytes, as: UTF8.self))
    }

    /// Writes the learned hosts to a file, in the format of ``text``. Preloaded hosts are not written.
    ///
    /// The text is written to a new file beside `path`, synced, and renamed to `path`. The file is therefore always
    /// whole, that of the last save, also for a reader, after a crash, with a full disk, or if another process saves at
    /// the same time. A save does not keep what other processes have saved; call ``load(from:)`` before to take that
    /// over.
    ///
    /// If `path` is a symbolic link, the file that the link leads to is replaced, and the link stays. The new file has
    /// the permissions of the file that it replaces. Without such a file, only the user may read and write it (0600).
    ///
    /// Throws `diskFull`, `directoryMissing`, `fileAccessDenied`, `fileIsDirectory` or ``ErrandError/fileUnwritable``,
    /// and `fileExists` for another user's link in a directory such as /tmp; the former file is then as it was. Throws
    /// ``ErrandError/invalidOption`` for a path that is empty or contains a NUL. Any thread; blocks while it writes.
    public func save(to path: String) throws(ErrandError) {
        try WholeFile.check(path, of: "the HSTS file")
        try WholeFile.write(Array(text.utf8), to: path)
    }
}
