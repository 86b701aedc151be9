/// What a ``Download`` ends with: the file is complete, in its place, and safe on disk.
public struct DownloadedFile: Sendable {
    /// Its absolute path.
    public let path: String
    /// Its length.
    public let byteCount: Int64
    /// Its SHA-256 as 64 lowercase hexadecimal digits; `nil` where neither ``Download/sha256`` nor
    /// ``Download/computesSHA256`` asked for it.
    public let sha256: String?
    /// So many bytes were there from an earlier run and not fetched again; 0 where it began from zero.
    public let resumedFrom: Int64
    /// The content's entity tag, with its quotes, as the server gave it.
    public let entityTag: String?
    /// The content's modification date as the server gave it.
    public let lastModified: String?
    /// The head of the last response, without a body: a 200, or the 206 of the last part. Where an earlier run had
    /// everything and only failed to put the file in place, nothing is sent, and this is a 200 with what is known.
    public let response: Response
}
