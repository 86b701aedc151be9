public import Errand
import Glibc
import Synchronization

extension Cassette {
    /// Writes the recorded exchanges to the file, if this run has recorded any. In mode ``Mode/new`` they follow the
    /// exchanges that the file had. In mode ``Mode/all`` an existing file is replaced even if nothing was sent. A
    /// remark in the file lists ``hiddenNames``. The file is replaced as a whole, and its folder is made if it does not
    /// exist. Blocks while it writes. In mode ``Mode/new``, processes that save the same file wait for each other.
    ///
    /// May be called again after an error, for example when the disk has room again, and after further requests. Until
    /// the first success, no other cassette of this process can record the file.
    ///
    /// - Parameter pruning: Whether exchanges that no request has used are removed, even if nothing was recorded.
    ///   Default: no.
    /// - Throws: `directoryMissing`, `fileAccessDenied`, `diskFull` or ``/Errand/ErrandError/fileUnwritable``, the last
    ///   also if the recording is larger than ``fileLimit``; `fileLocked` if another cassette records the file
    ///   meanwhile, or if another process does not finish saving it. After an error the file is unchanged.
    public func save(pruning: Bool = false) throws(ErrandError) {
        let (file, recorded, saved, dropped) = state.withLock { ($0.file, $0.recorded, $0.saved, $0.dropped) }
        let isPruned = pruning && file.isUsed.contains(false)
        // A file that an earlier run left would be replayed in the next run.
        let isOutdated = mode == .all && access(path, F_OK) == 0
        guard recorded.count > saved || dropped > 0 || isPruned || isOutdated else { return endRecording() }
        guard dropped == 0 else { throw isTooLarge }
        try WholeFile.check(path, of: "the cassette")
        if mayRecord { try beginRecording() }
        try makeFolder()
        let lock = try mode == .new ? FolderLock(of: path) : nil
        defer { lock?.release() }
        var kept = file.entries
        var added = recorded[...]
        if isPruned {
            kept = zip(kept, file.isUsed).filter { $0.1 }.map(\.0)
        } else if mode == .new, let present = try HAR.read(path, atMost: fileLimit, requiresResponses: true)?.entries {
            // Another process may have added to the file. The file already has the exchanges that an earlier call has
            // saved.
            kept = Self.compared(present, limit: bodyLimit, redaction, bodyRedaction)
            added = recorded.dropFirst(saved)
        }
        let names = hiddenNames.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }
        let remark = names.isEmpty ? nil : "hidden in responses: " + names.joined(separator: ", ")
        let text = Array(HAR(entries: kept + added, comment: remark).text().utf8)
        guard text.count <= fileLimit else { throw isTooLarge }
        try WholeFile.write(text, to: path)
        state.withLock { $0.saved = recorded.count }
        endRecording()
    }

    /// A partial recording would make the next run fail.
    private var isTooLarge: ErrandError {
        .file(
            .fileUnwritable, path,
            "is not written: the recording has more than \(fileLimit) bytes; raise fileLimit, lower bodyLimit, or give each test "
                + "a file of its own")
    }

    private func makeFolder() throws(ErrandError) {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex,
            let failure = Directories.make(String(path[..<slash]), mode: 0o755)
        else { return }
        throw .file(failure.path, "cannot be created", errno: failure.error.number)
    }
}
