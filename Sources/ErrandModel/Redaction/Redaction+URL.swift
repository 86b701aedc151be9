extension Redaction {
    /// A URL without its secrets: user and password are hidden, and the values of secret parameters are replaced, in
    /// the query and in a fragment in the form of a query. A parameter's value that is a URL, percent-encoded or not,
    /// is redacted in the same way.
    public func url(_ url: String) -> String {
        self.url(url, depth: 0)
    }

    /// A URL that is not yet a request's, quoted and without its secrets, for an error's message; see ``shown(_:)``.
    package static func quoted(_ url: String) -> String { shown(url).debugDescription }

    /// A URL that is not yet a request's, valid or not: without the secrets of ``standard``, and without the text
    /// before an `@` if an authority was intended.
    package static func shown(_ url: String) -> String {
        let shown = standard.url(url)
        var parts = URLReference(shown)
        // `http:/ada:secret@host` has a scheme and no authority; `/users/a@b` is a path.
        let isSlash: (Character) -> Bool = { $0 == "/" || $0 == "\\" }
        let path = parts.scheme == nil ? parts.path : parts.path.drop(while: isSlash)
        let segment = path.prefix { $0 != "/" }
        guard parts.authority?.isEmpty ?? true, let mark = shown.utf8.lastIndex(of: UInt8(ascii: "@")) else {
            return shown
        }
        if parts.authority != nil {
            // `http:///ada:secret@host`
            parts.path = Self.placeholder + shown[mark...]
            return parts.text
        }
        // `ada:secret@host/x` reads as a scheme and a path.
        guard segment.utf8.contains(UInt8(ascii: "@")) else { return shown }
        return Self.placeholder + shown[mark...]
    }

    /// The limit of URLs nested in each other; deeper URLs are hidden as a whole.
    private static let maximumNesting = 4

    private func url(_ url: String, depth: Int) -> String {
        var parts = URLReference(url)
        if hidesCredentials, let authority = parts.authority, let mark = authority.lastIndex(of: "@") {
            parts.authority = Self.placeholder + authority[mark...]
        }
        parts.query = parts.query.map { query($0, depth: depth) }
        parts.fragment = parts.fragment.map { query($0, depth: depth) }
        return parts.text
    }

    /// `a=1&token=x` without its secrets.
    func query(_ text: Substring) -> Substring {
        query(text, depth: 0)
    }

    private func query(_ text: Substring, depth: Int) -> Substring {
        guard !isNone, text.utf8.contains(UInt8(ascii: "=")) else { return text }
        let items = text.split(separator: "&", omittingEmptySubsequences: false).map { item -> Substring in
            guard let mark = item.firstIndex(of: "=") else { return item }
            if hides(parameter: PercentEncoding.decoded(item[..<mark])) { return item[...mark] + Self.placeholder }
            guard let shown = urlWithin(item[item.index(after: mark)...], depth: depth + 1) else { return item }
            return item[...mark] + shown
        }
        return Substring(items.joined(separator: "&"))
    }

    /// The redacted value if it is a URL with secrets; `nil` if the value can be shown unchanged.
    private func urlWithin(_ value: Substring, depth: Int) -> String? {
        var text = String(value)
        // After several redirects a URL in a parameter may be encoded more than once.
        for rounds in 0...3 {
            if Self.isURL(text) {
                guard depth <= Self.maximumNesting else { return Self.placeholder }
                let shown = url(text, depth: depth)
                guard shown != text else { return nil }
                return rounds == 0 ? shown : PercentEncoding.component(shown)
            }
            guard text.utf8.contains(UInt8(ascii: "%")) else { return nil }
            text = PercentEncoding.decoded(text)
        }
        return nil
    }

    /// `scheme://...`, `//host`, `/path?query`.
    private static func isURL(_ text: String) -> Bool {
        let parts = URLReference(text)
        return parts.authority != nil || parts.path.utf8.first == UInt8(ascii: "/") && parts.query != nil
    }
}
