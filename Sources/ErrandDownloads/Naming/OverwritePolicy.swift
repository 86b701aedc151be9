/// What a download does with a file that is at its destination already.
public enum OverwritePolicy: Sendable, Hashable {
    /// It stays until the new one is complete, and is then replaced in one step. A symbolic link that the caller has named
    /// is written through. Another one, a device or a pipe is not replaced: ``ErrandError/fileExists``.
    case replace
    /// ``ErrandError/fileExists``: before anything is sent, or at the end, where the file came meanwhile. A file whose
    /// SHA-256 is ``Download/sha256`` is the one that is wanted: the download ends with that, and fetches nothing.
    case fail
    /// `name (1).txt`, or the next number that is free at the end.
    case number
}
