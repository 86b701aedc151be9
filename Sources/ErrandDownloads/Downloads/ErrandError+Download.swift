extension ErrandError {
    /// The disk, a quota or the process's limit of file size is full; see ``systemErrorCode``. What was downloaded stays
    /// for the next try.
    public static let diskFull = ErrandError(.diskFull)
    /// The directory that a file is to go to does not exist.
    public static let directoryMissing = ErrandError(.directoryMissing)
    /// The process may not write a file, or its file system is read-only.
    public static let fileAccessDenied = ErrandError(.fileAccessDenied)
    /// There is a directory where a file is to be written.
    public static let fileIsDirectory = ErrandError(.fileIsDirectory)
    /// There is a file already, which is not to be replaced.
    public static let fileExists = ErrandError(.fileExists)
    /// Another download, of this process or another, writes the same file.
    public static let fileLocked = ErrandError(.fileLocked)
    /// The content is longer or shorter than the server promised or the caller expects.
    public static let lengthMismatch = ErrandError(.lengthMismatch)
    /// The content's digest is not the one that the caller expects. Nothing of it is kept.
    public static let digestMismatch = ErrandError(.digestMismatch)
}
