package import Errand
package import FoundationEssentials
import HTTPTypes
import Synchronization

/// The cookies of one user of a load test, in memory (RFC 6265 5.3 and 5.4). Any thread.
///
/// It has no list of public suffixes: a `Domain` of one label is refused, and `co.uk` is accepted. A load test talks to
/// your own servers.
package final class UserCookieJar: Sendable {
    private struct Stored: Sendable {
        let cookie: Cookie
        /// The order in which cookies of equal paths are sent.
        let number: UInt64
    }

    /// The most cookies of a user, and the most bytes of one.
    private static let mostCookies = 300
    private static let mostBytes = 4096

    private struct State: Sendable {
        var cookies: [Stored] = []
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The value of the `Cookie` field for a URL; `nil`: there is no cookie for it.
    package func field(for url: String, now: Date = Date()) -> String? {
        let target = CookieTarget(url)
        return state.withLock { state -> String? in
            guard !state.cookies.isEmpty else { return nil }
            let matching = state.cookies.filter { $0.cookie.isSent(to: target, now) }
            guard !matching.isEmpty else { return nil }
            // RFC 6265 5.4: longer paths first, then older cookies.
            let sorted = matching.sorted {
                ($1.cookie.path.utf8.count, $0.number) < ($0.cookie.path.utf8.count, $1.number)
            }
            return sorted.map { "\($0.cookie.name)=\($0.cookie.value)" }.joined(separator: "; ")
        }
    }

    /// Stores what the response to a request for `url` sets.
    package func store(_ response: Response, from url: String, now: Date = Date()) {
        guard response.header(.setCookie) != nil else { return }
        let target = CookieTarget(url)
        for value in response.headers[values: .setCookie] where value.utf8.count <= Self.mostBytes {
            guard let cookie = Cookie(setCookie: value, from: target, now: now) else { continue }
            set(cookie, from: target, now)
        }
    }

    private func set(_ cookie: Cookie, from target: CookieTarget, _ now: Date) {
        state.withLock { state in
            state.cookies.removeAll { $0.cookie.isExpired(now) }
            // draft-ietf-httpbis-rfc6265bis 5.7: a response without TLS does not hide or replace a secure cookie.
            let isGuarded = state.cookies.contains { $0.cookie.isSecure && $0.cookie.covers(cookie) }
            if !cookie.isSecure, !target.isSecure, isGuarded { return }
            let place = state.cookies.firstIndex { stored in
                let old = stored.cookie
                return old.name == cookie.name && old.domain == cookie.domain && old.path == cookie.path
            }
            if let place {
                guard !cookie.isExpired(now) else {
                    state.cookies.remove(at: place)
                    return
                }
                // RFC 6265 5.3, step 11.3: the new cookie has the creation time of the old one.
                state.cookies[place] = Stored(cookie: cookie, number: state.cookies[place].number)
                return
            }
            guard !cookie.isExpired(now) else { return }
            if state.cookies.count >= Self.mostCookies { state.cookies.removeFirst() }
            state.lastNumber += 1
            state.cookies.append(Stored(cookie: cookie, number: state.lastNumber))
        }
    }

    package func removeAll() {
        state.withLock { $0.cookies = [] }
    }

    /// The cookies that have not expired, the oldest first.
    package var all: [Cookie] {
        let now = Date()
        return state.withLock { $0.cookies.map(\.cookie) }.filter { !$0.isExpired(now) }
    }
}

/// The parts of a URL by which cookies are chosen.
struct CookieTarget: Sendable {
    /// In lower case, without the port.
    let host: String
    let path: String
    /// https, or http to this machine.
    let isSecure: Bool
    let isAddress: Bool

    init(_ url: String) {
        let reference = URLReference(url)
        var authority = Substring(reference.authority ?? "")
        if let mark = authority.lastIndex(of: "@") { authority = authority[authority.index(after: mark)...] }
        if authority.first == "[" {
            host = String(authority.prefix { $0 != "]" }.dropFirst()).lowercased()
            isAddress = true
        } else {
            let name = String(authority.prefix { $0 != ":" }).lowercased()
            host = name
            isAddress = !name.isEmpty && name.utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) }
        }
        path = reference.path.isEmpty ? "/" : String(reference.path)
        let isLocal = host == "localhost" || host == "::1" || (isAddress && host.hasPrefix("127."))
        isSecure = reference.scheme?.lowercased() == "https" || isLocal
    }

    /// RFC 6265 5.1.4: the path up to, and without, its last slash.
    var defaultPath: String {
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// RFC 6265 5.1.3.
    func isWithin(_ domain: String) -> Bool {
        host == domain || (!isAddress && host.hasSuffix("." + domain))
    }
}

extension Cookie {
    /// Whether this secure cookie has the name of `other`, whose domain matches in one direction, and whose path is this
    /// one's or below it.
    fileprivate func covers(_ other: Cookie) -> Bool {
        let isOfDomain =
            domain == other.domain || domain.hasSuffix("." + other.domain) || other.domain.hasSuffix("." + domain)
        guard name == other.name, isOfDomain, other.path.hasPrefix(path) else { return false }
        return other.path.utf8.count == path.utf8.count || path.hasSuffix("/")
            || other.path.utf8.dropFirst(path.utf8.count).first == UInt8(ascii: "/")
    }

    func isExpired(_ now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    func isSent(to target: CookieTarget, _ now: Date) -> Bool {
        guard !isExpired(now), includesSubdomains ? target.isWithin(domain) : target.host == domain,
            !isSecure || target.isSecure
        else { return false }
        // RFC 6265 5.1.4.
        guard target.path.hasPrefix(path) else { return false }
        return target.path.utf8.count == path.utf8.count || path.hasSuffix("/")
            || target.path.utf8.dropFirst(path.utf8.count).first == UInt8(ascii: "/")
    }

    /// Reads a `Set-Cookie` field (RFC 6265 5.2, 5.3); `nil`: the field sets no cookie that the server may set.
    init?(setCookie value: String, from target: CookieTarget, now: Date) {
        var parts = value.split(separator: ";", omittingEmptySubsequences: false)
        let pair = parts.removeFirst()
        guard let equals = pair.firstIndex(of: "=") else { return nil }
        let name = pair[..<equals].trimmed
        guard !name.isEmpty, !target.host.isEmpty else { return nil }
        self.init(
            name: name, value: pair[pair.index(after: equals)...].trimmed, domain: target.host,
            path: target.defaultPath)
        var maxAge: Date?
        for part in parts {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let text = sides.count > 1 ? sides[1].trimmed : ""
            switch (sides.first?.trimmed ?? "").lowercased() {
            case "expires":
                if let date = CookieDate.date(text) { expires = date }
            case "max-age":
                guard let seconds = Int(text) else { continue }
                maxAge = seconds <= 0 ? Date.distantPast : now.addingTimeInterval(Double(min(seconds, 1 << 40)))
            case "domain":
                let domain = (text.hasPrefix(".") ? String(text.dropFirst()) : text).lowercased()
                guard !domain.isEmpty else { continue }
                guard target.isWithin(domain), domain == target.host || domain.contains(".") else { return nil }
                self.domain = domain
                includesSubdomains = !target.isAddress
            case "path":
                path = text.hasPrefix("/") ? text : target.defaultPath
            case "secure": isSecure = true
            case "httponly": isHTTPOnly = true
            default: break
            }
        }
        if let maxAge { expires = maxAge }
        if isSecure, !target.isSecure { return nil }
    }
}

extension Substring {
    /// Without blanks at both ends.
    fileprivate var trimmed: String {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return String(start[...last])
    }
}
