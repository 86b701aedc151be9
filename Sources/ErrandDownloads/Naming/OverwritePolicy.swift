/// What a download does with a file that exists at its destination.
public enum OverwritePolicy: Sendable, Hashable {
    /// The file stays until the new one is complete and is then replaced in one step. A symbolic link that the caller
    /// named is written through. Any other symbolic link, a device or a pipe is not replaced:
    /// ``ErrandError/fileExists``.
    case replace
    /// Fails with ``ErrandError/fileExists``: before anything is sent, or at the end where the file appeared meanwhile.
    /// A file whose SHA-256 is ``Download/sha256`` already is the requested content: the download succeeds with that
    /// file and fetches nothing.
    case fail
    /// Uses `name (1).txt`, or the next number that is free at the end of the download.
    case number
}
