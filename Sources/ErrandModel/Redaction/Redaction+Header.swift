extension Redaction {
    /// The value of a header field without its secrets. URLs are redacted in the fields that contain them: `Location`,
    /// `Content-Location`, `Referer`, `Destination`, and within `Refresh` and `Link`.
    public func value(_ value: String, ofHeader name: String) -> String {
        let lowercased = name.lowercased()
        if hides(header: lowercased) { return Self.placeholder }
        switch lowercased {
        case "location", "content-location", "referer", "destination": return url(value)
        case "refresh": return refresh(value)
        case "link": return link(value)
        default: return value
        }
    }

    /// `5; url=http://h/?token=x`, quoted or not (WHATWG HTML 4.2.5.3).
    private func refresh(_ value: String) -> String {
        guard let start = value.firstIndex(where: { $0 == ";" || $0 == "," }) else { return value }
        let rest = value[start...].dropFirst()
        let mark = rest.firstIndex(of: "=").map { rest.index(after: $0) } ?? rest.startIndex
        let isNamed = mark > rest.startIndex && rest[..<mark].lowercased().filter { $0 != " " } == "url="
        let text = isNamed ? rest[mark...] : rest
        let first = text.firstIndex { !" \t\"'".contains($0) } ?? text.endIndex
        return value[..<first] + url(String(value[first...]))
    }

    /// `<http://h/?token=x>; rel="next", <...>` (RFC 8288 3).
    private func link(_ value: String) -> String {
        var result = ""
        var rest = value[...]
        while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
            let target = rest[rest.index(after: start)..<end]
            result += rest[...start] + url(String(target)) + ">"
            rest = rest[end...].dropFirst()
        }
        // A target without a closing `>` is still a target.
        guard let start = rest.firstIndex(of: "<") else { return result + rest }
        return result + rest[...start] + url(String(rest[start...].dropFirst()))
    }
}
