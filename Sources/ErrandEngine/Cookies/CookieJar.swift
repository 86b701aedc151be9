import FoundationEssentials

/// The cookies of a client: ``Client/cookies``. Any thread; a call takes the loops' lock on the jar for moments.
///
/// Every method throws ``ErrandError/shutDown`` once the client's engine is gone, and, where the engine could not be
/// started, the reason.
public struct CookieJar: Sendable {
    private let reactor: Result<Reactor, ErrandError>

    package init(_ reactor: Result<Reactor, ErrandError>) {
        self.reactor = reactor
    }

    /// What has not expired, in no particular order.
    public func all() throws(ErrandError) -> [Cookie] {
        try reactor.get().cookies()
    }

    /// Adds a cookie, or replaces the one of that name, domain and path; an ``Cookie/expires`` in the past removes it.
    /// Throws ``ErrandError/invalidArgument`` for what RFC 6265 does not allow, and for ``Cookie/includesSubdomains`` of an
    /// address or a top-level domain. Public suffixes of several labels (`co.uk`) are taken: libcurl asks its list of them
    /// for the cookies of servers alone.
    public func set(_ cookie: Cookie) throws(ErrandError) {
        try reactor.get().setCookie(cookie)
    }

    /// Removes the cookie of that name, domain and path; one that is not there is fine.
    public func remove(named name: String, domain: String, path: String = "/") throws(ErrandError) {
        let reactor = try reactor.get()
        // The engine knows a cookie for subdomains and one without for different ones.
        for cookie in try reactor.cookies()
        where cookie.name == name && cookie.path == path && cookie.domain.lowercased() == domain.lowercased() {
            var gone = cookie
            gone.expires = .init(timeIntervalSince1970: 1)
            try reactor.setCookie(gone)
        }
    }

    /// Removes all cookies, or those without an expiry alone.
    public func removeAll(sessionOnly: Bool = false) throws(ErrandError) {
        try reactor.get().removeCookies(sessionOnly: sessionOnly)
    }

    /// Writes the jar to its file now; the shutdown does so too but reports no failure. Blocks for the disk; not from an
    /// inline callback (``ErrandError/wrongThread``). Symbolic links are followed and stay. Throws ``ErrandError/fileUnwritable``, the old file left as it was,
    /// and ``ErrandError/invalidOption`` where the jar has no file.
    public func save() throws(ErrandError) {
        try reactor.get().saveCookies()
    }
}
