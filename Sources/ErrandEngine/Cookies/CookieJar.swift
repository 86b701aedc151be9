import FoundationEssentials

/// The cookies of a client: ``Client/cookies``. Any thread; a call briefly holds the lock on the jar that the loops
/// use.
///
/// Every method throws ``ErrandError/shutDown`` after the client's engine was destroyed. If the engine could not be
/// started, every method throws that error.
public struct CookieJar: Sendable {
    private let reactor: Result<Reactor, ErrandError>

    package init(_ reactor: Result<Reactor, ErrandError>) {
        self.reactor = reactor
    }

    /// The cookies that have not expired, in no particular order.
    public func all() throws(ErrandError) -> [Cookie] {
        try reactor.get().cookies()
    }

    /// Adds a cookie, or replaces the one of that name, domain and path; an ``Cookie/expires`` in the past removes it.
    /// Throws ``ErrandError/invalidArgument`` for a cookie that RFC 6265 does not allow, and for
    /// ``Cookie/includesSubdomains`` with an address or a top-level domain. Public suffixes of several labels (`co.uk`)
    /// are accepted: libcurl checks its list of public suffixes only for cookies from servers.
    public func set(_ cookie: Cookie) throws(ErrandError) {
        try reactor.get().setCookie(cookie)
    }

    /// Removes the cookie of that name, domain and path; no effect if there is none.
    public func remove(named name: String, domain: String, path: String = "/") throws(ErrandError) {
        let reactor = try reactor.get()
        // For the engine, a cookie for subdomains and one without subdomains are different cookies.
        for cookie in try reactor.cookies()
        where cookie.name == name && cookie.path == path && cookie.domain.lowercased() == domain.lowercased() {
            var gone = cookie
            gone.expires = .init(timeIntervalSince1970: 1)
            try reactor.setCookie(gone)
        }
    }

    /// Removes all cookies, or only those without an expiry.
    public func removeAll(sessionOnly: Bool = false) throws(ErrandError) {
        try reactor.get().removeCookies(sessionOnly: sessionOnly)
    }

    /// Writes the jar to its file now. The shutdown does so, too, but reports no failure. Blocks for the disk, so it
    /// must not be called from an inline callback (``ErrandError/wrongThread``). Symbolic links are followed and stay.
    /// Throws ``ErrandError/fileUnwritable``, with the old file unchanged, and ``ErrandError/invalidOption`` if the jar
    /// has no file.
    public func save() throws(ErrandError) {
        try reactor.get().saveCookies()
    }
}

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
