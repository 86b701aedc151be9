/// Whether a client keeps cookies, and where.
///
/// The jar is libcurl's own engine (RFC 6265, and the public suffix list where libcurl has it): one per client, for all
/// its loops. A request takes part unless it has ``CommandOptions/withoutCookies`` or a `Cookie` field of its own.
/// Requests that use the jar do not share TLS sessions and addresses beyond their own connections' engine handles.
public enum CookieStorage: Sendable, Hashable {
    /// No cookies are kept or sent. The default.
    case off
    /// Kept while the client lives.
    case memory
    /// Loaded from this file when the client is made, where it exists, and saved to it (Netscape format, mode 0600, whole
    /// or not at all) by ``CookieJar/save()`` and at the client's shutdown, cookies without an expiry included. A file
    /// that cannot be read fails every request with ``ErrandError/fileUnreadable``.
    case file(String)
}
