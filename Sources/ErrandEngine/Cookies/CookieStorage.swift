/// Whether a client keeps cookies, and where.
///
/// The jar is libcurl's own engine (RFC 6265, and the public suffix list if libcurl has it): one per client, for all
/// its loops. Every request uses the jar unless it has ``CommandOptions/withoutCookies`` or a `Cookie` field of its
/// own. Requests that use the jar share no TLS sessions and addresses across the client: a libcurl handle has only one
/// share, which is the jar here.
public enum CookieStorage: Sendable, Hashable {
    /// No cookies are kept or sent. The default.
    case off
    /// Cookies are kept while the client lives.
    case memory
    /// Cookies are loaded from this file when the client is made, if the file exists. ``CookieJar/save()`` and the
    /// client's shutdown save them to it, cookies without an expiry included (Netscape format, mode 0600, replaced
    /// atomically). A file that cannot be read fails every request with ``ErrandError/fileUnreadable``.
    case file(String)
}
