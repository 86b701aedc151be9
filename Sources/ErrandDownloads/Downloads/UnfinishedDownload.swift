public import FoundationEssentials

/// A download that was started and is not complete; found by ``Downloads``.
public struct UnfinishedDownload: Sendable, Hashable {
    /// The path of the finished file.
    public let path: String
    /// The requested URL, before redirects. It may contain secrets.
    public let url: String
    /// The number of bytes that are safe on disk; these are not fetched again.
    public let byteCount: Int64
    /// The length of the whole file; `nil` where the server has not announced it.
    public let length: Int64?
    /// The time when bytes were last made safe on disk.
    public let lastWritten: Date
    /// Whether a download of this or another process is writing the file now.
    public let isRunning: Bool
}
