import CErrand
import FoundationEssentials

extension Reactor {
    package func cookies() throws(ErrandError) -> [Cookie] {
        var list: UnsafeMutablePointer<errand_cookie_list>?
        try call { errand_cookies_list($0, &list) }
        defer { errand_cookies_free(list) }
        guard let list = list?.pointee else { return [] }
        return UnsafeBufferPointer(start: list.cookies, count: list.count).map(Cookie.init)
    }

    package func setCookie(_ cookie: Cookie) throws(ErrandError) {
        let texts = [cookie.name, cookie.value, cookie.domain, cookie.path]
        guard texts.allSatisfy({ !$0.utf8.contains(0) }) else {
            throw ErrandError.invalidArgument.with(message: "a cookie contains a NUL")
        }
        try call { group in
            cookie.name.withCString { name in
                cookie.value.withCString { value in
                    cookie.domain.withCString { domain in
                        cookie.path.withCString { path in
                            var plain = errand_cookie(
                                name: name, value: value, domain: domain, path: path, expires: cookie.cExpires,
                                flags: cookie.cFlags)
                            return errand_cookies_set(group, &plain)
                        }
                    }
                }
            }
        }
    }

    package func removeCookies(sessionOnly: Bool) throws(ErrandError) {
        try call { errand_cookies_clear($0, sessionOnly ? 1 : 0) }
    }

    package func saveCookies() throws(ErrandError) {
        try call { errand_cookies_save($0) }
    }

    private func call(_ body: (OpaquePointer) -> errand_status) throws(ErrandError) {
        guard let status = withGroup(body) else { throw .shutDown }
        if let error = ErrandError(status) { throw error }
    }
}

extension Cookie {
    fileprivate init(_ cookie: errand_cookie) {
        let flags = Int(cookie.flags)
        self.init(
            name: String(cString: cookie.name), value: String(cString: cookie.value),
            domain: String(cString: cookie.domain), path: String(cString: cookie.path),
            expires: cookie.expires == 0 ? nil : Date(timeIntervalSince1970: Double(cookie.expires)),
            isSecure: flags & ERRAND_COOKIE_SECURE != 0, isHTTPOnly: flags & ERRAND_COOKIE_HTTP_ONLY != 0,
            includesSubdomains: flags & ERRAND_COOKIE_SUBDOMAINS != 0)
    }

    /// 0 means no expiry, so dates up to 1970 become 1. Later dates are limited to 10^15 seconds.
    fileprivate var cExpires: Int64 {
        guard let expires else { return 0 }
        let seconds = expires.timeIntervalSince1970.rounded(.down)
        return seconds < 1 ? 1 : Int64(exactly: min(seconds, 1e15)) ?? 1
    }

    fileprivate var cFlags: UInt32 {
        var flags = 0
        if isSecure { flags |= ERRAND_COOKIE_SECURE }
        if isHTTPOnly { flags |= ERRAND_COOKIE_HTTP_ONLY }
        if includesSubdomains { flags |= ERRAND_COOKIE_SUBDOMAINS }
        return UInt32(flags)
    }
}
