/// When a download resumes from the bytes of an earlier run or of a broken connection.
public enum ResumePolicy: Sendable, Hashable {
    /// Resumes where the server sent a strong entity tag, or a modification date that is older than its response. The
    /// client can then request the rest of exactly that content (`If-Range`, RFC 9110 13.1.5). Starts from zero
    /// otherwise.
    case validated
    /// Also resumes without a strong validator: the length and whatever validators there are must match. For contents
    /// that never change.
    case always
    /// Drops the bytes of earlier runs. Broken connections are treated as with ``validated``.
    case never
}
