extension ErrandError {
    /// The disk or a quota is full, or the process's file size limit is reached; see ``systemErrorCode``. The
    /// downloaded bytes are kept for the next try.
    public static let diskFull = ErrandError(.diskFull)
    /// The directory of the destination does not exist.
    public static let directoryMissing = ErrandError(.directoryMissing)
    /// The process may not write the file, or the file system is read-only.
    public static let fileAccessDenied = ErrandError(.fileAccessDenied)
    /// The destination of a file is a directory.
    public static let fileIsDirectory = ErrandError(.fileIsDirectory)
    /// The file exists and may not be replaced.
    public static let fileExists = ErrandError(.fileExists)
    /// Another download, of this or another process, writes the same file.
    public static let fileLocked = ErrandError(.fileLocked)
    /// The content is longer or shorter than the server announced or the caller expects.
    public static let lengthMismatch = ErrandError(.lengthMismatch)
    /// The content's digest is not the one that the caller expects. None of the content is kept.
    public static let digestMismatch = ErrandError(.digestMismatch)
}
