public import FoundationEssentials

/// A download that was begun and is not complete: what ``Downloads`` finds.
public struct UnfinishedDownload: Sendable, Hashable {
    /// Where the file would be.
    public let path: String
    /// What was asked for, before redirects. It may have secrets in it.
    public let url: String
    /// Bytes that are safe on disk, and would not be fetched again.
    public let byteCount: Int64
    /// The whole file's length; `nil` where the server has not said.
    public let length: Int64?
    /// When something of it was last made safe.
    public let lastWritten: Date
    /// Whether a download writes it now, of this process or another.
    public let isRunning: Bool
}
