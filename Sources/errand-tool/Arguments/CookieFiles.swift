import Errand
import Foundation

/// The cookies and files of `-b` and `-c`. The format is that of Netscape and curl: seven columns separated by tabs.
struct CookieFiles: Sendable {
    /// Sources of cookies; files are read before the first request.
    var sources: [String] = []
    /// Cookies that are sent to the hosts of the given URLs in addition to the jar's cookies, and that are never
    /// written.
    var pairs: [String] = []
    /// The file to write after the last request; `-`: standard output.
    var destination: String?

    private static let httpOnly = "#HttpOnly_"

    /// `urls`: the URLs of the command line.
    func load(into jar: CookieJar, for urls: [String]) throws {
        for path in sources {
            let text = try Self.read(path)
            for line in text.split(whereSeparator: \.isNewline) {
                guard let cookie = Self.cookie(line) else { continue }
                // A cookie that RFC 6265 does not allow, for example one for a top-level domain, is skipped.
                do throws(ErrandError) {
                    try jar.set(cookie)
                } catch {
                    guard error == .invalidArgument else { throw error }
                }
            }
        }
        for cookie in cookies(for: urls) {
            do throws(ErrandError) {
                try jar.set(cookie)
            } catch {
                throw ToolError(
                    .usage, "-b: '\(Shown.text(cookie.name))' is not a valid cookie to send together with a cookie file"
                )
            }
        }
    }

    private func cookies(for urls: [String]) -> [Cookie] {
        Set(urls.compactMap { URLComponents(string: $0)?.encodedHost?.trimmingCharacters(in: ["[", "]"]) }).flatMap {
            host in
            pairs.flatMap { $0.split(separator: ";") }.map { pair in
                let pair = pair.trimmingPrefix { $0 == " " }
                let name = pair.prefix { $0 != "=" }
                return Cookie(
                    name: String(name), value: String(pair.dropFirst(name.count + 1)), domain: host.lowercased())
            }
        }
    }

    private static func read(_ path: String) throws(ToolError) -> String {
        let data: Data
        if path == "-" {
            data = try BodyArgument.standardInput.load()
        } else {
            if let reason = FileCheck.whyUnreadable(path) {
                throw ToolError(.inputFile, "-b '\(path)': \(reason); to send a cookie, use NAME=VALUE")
            }
            data = try BodyArgument.file(path).load()
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// A line has the columns `domain, for subdomains, path, secure, expires, name, value`. `nil` for comments and for
    /// lines that hold no cookie.
    static func cookie(_ line: some StringProtocol) -> Cookie? {
        let isHTTPOnly = line.hasPrefix(httpOnly)
        if line.hasPrefix("#"), !isHTTPOnly { return nil }
        let columns = line.dropFirst(isHTTPOnly ? httpOnly.count : 0).split(
            separator: "\t", omittingEmptySubsequences: false)
        guard columns.count >= 6, let expires = Double(columns[4]) else { return nil }
        return Cookie(
            name: String(columns[5]), value: columns.count > 6 ? String(columns[6]) : "",
            domain: String(columns[0].drop { $0 == "." }), path: columns[2].isEmpty ? "/" : String(columns[2]),
            expires: expires > 0 ? Date(timeIntervalSince1970: expires) : nil, isSecure: columns[3] == "TRUE",
            isHTTPOnly: isHTTPOnly, includesSubdomains: columns[1] == "TRUE")
    }

    static func line(_ cookie: Cookie) -> String {
        let expires = cookie.expires.map { Int64($0.timeIntervalSince1970) } ?? 0
        let columns = [
            (cookie.isHTTPOnly ? httpOnly : "") + (cookie.includesSubdomains ? "." : "") + cookie.domain,
            cookie.includesSubdomains ? "TRUE" : "FALSE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
            String(expires), cookie.name, cookie.value,
        ]
        return columns.joined(separator: "\t")
    }

    func save(_ jar: CookieJar, for urls: [String]) throws {
        guard let destination else { return }
        let given = Set(cookies(for: urls).map(Self.line))
        let lines = try jar.all().map(Self.line).filter { !given.contains($0) }.sorted()
        let text = (["# Netscape HTTP Cookie File", ""] + lines).joined(separator: "\n") + "\n"
        if destination == "-" { return try StandardOutput.write(text) }
        // Mode 0600, because a session cookie gives access to the user's account.
        if let failure = OutputFile.save(Array(text.utf8), to: destination, mode: 0o600) { throw ToolError(failure) }
    }
}
