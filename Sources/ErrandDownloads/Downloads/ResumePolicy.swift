/// When a download goes on with what an earlier run, or a broken connection, has left.
public enum ResumePolicy: Sendable, Hashable {
    /// Where the server gave a strong entity tag, or a modification date that is older than its response, so that it can
    /// be asked for the rest of the same content alone (`If-Range`, RFC 9110 13.1.5). Else from zero.
    case validated
    /// Also without one of those: by the length and what little there is. For contents that never change.
    case always
    /// What an earlier run has left is dropped; broken connections are treated as by ``validated``.
    case never
}
