import ArgumentParser
import Errand

/// A URL of the command line. A URL without a scheme is treated as http.
struct URLArgument: ExpressibleByArgument, Hashable, Sendable {
    /// The URL as it is sent.
    let text: String

    init(argument: String) {
        text = Self.hasHostFirst(argument) ? "http://" + argument : argument
    }

    /// Whether the text begins with an authority: `localhost:8080/x`, `[::1]/`, `ada:secret@host`. Text that has a
    /// scheme, or that could be read as having one, stays unchanged.
    private static func hasHostFirst(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, !"/?#:".unicodeScalars.contains(first),
            schemeEnd(text) == nil
        else {
            return false
        }
        let authority = text.prefix { !"/?#".contains($0) }
        if authority.hasPrefix("[") || authority.contains("@") { return true }
        if ["http", "https"].contains(authority.lowercased()), text.dropFirst(authority.count).hasPrefix("//") {
            return false
        }
        guard let colon = authority.firstIndex(of: ":") else { return true }
        let port = authority[colon...].dropFirst()
        return !port.isEmpty && port.allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// The index after `scheme://` (RFC 3986 3.1); `nil` if the text does not begin with a scheme, as in
    /// `localhost/?next=http://other/`.
    private static func schemeEnd(_ text: String) -> String.Index? {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let rest = text[scheme.endIndex...]
        return !scheme.isEmpty && rest.hasPrefix("://") ? rest.index(rest.startIndex, offsetBy: 3) : nil
    }

    // MARK: User and password

    /// The URL without user and password, and the user with the password; `nil` if the URL has none. The tool sends the
    /// credentials in a header, so that they can also answer a challenge.
    var withoutUser: (address: String, user: UserArgument?) {
        guard let start = Self.schemeEnd(text) else { return (text, nil) }
        let rest = text[start...]
        let authority = rest.prefix { !"/?#\\".contains($0) }
        guard let mark = authority.lastIndex(of: "@") else { return (text, nil) }
        let info = authority[..<mark]
        let colon = info.firstIndex(of: ":") ?? info.endIndex
        let user = UserArgument(user: Self.decoded(info[..<colon]), password: Self.decoded(info[colon...].dropFirst()))
        return (String(text[..<start] + rest[mark...].dropFirst()), user)
    }

    /// Text that is not percent-encoded UTF-8 stays unchanged.
    private static func decoded(_ text: Substring) -> String {
        PercentEncoding.decodedStrictly(text.utf8).flatMap { String(validating: $0, as: UTF8.self) } ?? String(text)
    }

    /// The text percent-encoded as one path segment.
    static func encoded(_ text: String) -> String {
        PercentEncoding.encode(text, keeping: PercentEncoding.isUnreserved)
    }

    // MARK: Mistakes

    /// A suggestion for a URL that cannot be sent; `nil` if there is none.
    static func suggestion(for text: String) -> String? {
        let lowercased = text.lowercased()
        for scheme in ["https", "http"] {
            // `http:/host`, `http:host`, `http//host`, `http:///host`
            for separator in [":///", ":/", "//", ":"] where lowercased.hasPrefix(scheme + separator) {
                return suggested(scheme, text.dropFirst(scheme.count + separator.count))
            }
        }
        if text.hasPrefix("//") { return suggested("http", text.dropFirst(2)) }
        if text.hasPrefix(":"), text.dropFirst().first?.isNumber == true { return "http://localhost" + text }
        guard let start = schemeEnd(text) else { return nil }
        let scheme = text[..<start].dropLast(3).lowercased()
        let meant = ["https", "http"].first { isOneEditAway(scheme, $0) }
        return meant.flatMap { suggested($0, text[start...]) }
    }

    private static func suggested(_ scheme: String, _ rest: Substring) -> String? {
        guard let first = rest.first, !"/?#:@".contains(first) else { return nil }
        return "\(scheme)://\(rest)"
    }

    /// Whether the texts differ by one letter too many, one missing, one wrong, or two swapped.
    private static func isOneEditAway(_ text: String, _ word: String) -> Bool {
        let (text, word) = (Array(text), Array(word))
        let prefix = zip(text, word).prefix { $0 == $1 }.count
        let (left, right) = (text[prefix...], word[prefix...])
        if left.dropFirst() == right || left == right.dropFirst() || left.dropFirst().elementsEqual(right.dropFirst()) {
            return true
        }
        return left.count >= 2 && right.count >= 2 && left.dropFirst(2).elementsEqual(right.dropFirst(2))
            && left.prefix(2).elementsEqual(right.prefix(2).reversed())
    }
}
