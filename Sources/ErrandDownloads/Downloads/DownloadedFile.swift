/// The value of a finished ``Download``: the file is complete, in its place and safe on disk.
public struct DownloadedFile: Sendable {
    /// The absolute path of the file.
    public let path: String
    /// The length of the file in bytes.
    public let byteCount: Int64
    /// The SHA-256 of the file as 64 lowercase hexadecimal digits; `nil` if neither ``Download/sha256`` nor
    /// ``Download/computesSHA256`` asked for it.
    public let sha256: String?
    /// The number of bytes that an earlier run had stored and this run did not fetch again; 0 if this run started
    /// from zero.
    public let resumedFrom: Int64
    /// The entity tag of the content, with its quotes, as the server sent it.
    public let entityTag: String?
    /// The modification date of the content as the server sent it.
    public let lastModified: String?
    /// The head of the last response, without a body: a 200, or the 206 of the last part. If an earlier run had
    /// stored all bytes and only failed to put the file in place, nothing is sent, and this is a 200 with the fields
    /// that are known.
    public let response: Response
}
