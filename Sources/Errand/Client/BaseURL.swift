/// How a relative path is joined to a base URL that has a path of its own.
public enum PathJoining: Sendable, Hashable {
    /// RFC 3986 5.2, the default, as YTKNetwork 2 does: `/x` replaces the base's path.
    case resolve
    /// The path is always appended: base `http://h/v1` and `/x` give `http://h/v1/x`, as YTKNetwork 1 did. Dot segments
    /// are removed all the same: `../x` gives `http://h/x`.
    case append
}

/// A base URL taken apart once, so that joining a path on the common way is one concatenation.
struct BaseURL: Sendable {
    /// `http://host:port`, without a slash.
    private let origin: String
    /// Scheme to path, a slash at the end.
    private let folder: String

    /// Throws ``ErrandError/invalidURL`` unless `text` is an absolute URL with a host.
    init(_ text: String) throws(ErrandError) {
        var parts = URLReference(try PercentEncoding.url(text))
        guard let scheme = parts.scheme, let authority = parts.authority, !authority.isEmpty else {
            throw ErrandError.invalidURL.with(
                message: "the base URL \(Redaction.quoted(text)) is not of the form scheme://host")
        }
        origin = "\(scheme)://\(authority)"
        parts.query = nil
        parts.fragment = nil
        parts = parts.withoutDotSegments ?? parts
        if !parts.path.hasSuffix("/") { parts.path += "/" }
        folder = parts.text
    }

    /// `path` is percent-encoded and relative.
    func joining(_ path: String, _ joining: PathJoining) -> String {
        if joining == .append {
            let first = path.utf8.first
            if first == 0x3F || first == 0x23 { return folder.dropLast() + path }
            let tail = path.drop { $0 == "/" }
            let joined = folder + tail
            guard URLReference.hasDotSegment(tail) else { return joined }
            return URLReference(joined).withoutDotSegments?.text ?? joined
        }
        guard Self.needsNoResolving(path) else {
            return URLReference(folder).resolving(URLReference(path)).text
        }
        return path.utf8.first == 0x2F ? origin + path : folder + path
    }

    /// True where RFC 3986 5.2 comes down to a concatenation: no dot segment, no `//` or `?` in front, not empty.
    private static func needsNoResolving(_ path: String) -> Bool {
        var previous: UInt8 = 0x2F
        var index = 0
        for byte in path.utf8 {
            if previous == 0x2F, byte == 0x2E { return false }
            if index == 1, previous == 0x2F, byte == 0x2F { return false }
            if byte == 0x3F || byte == 0x23 { return index > 0 }
            previous = byte
            index += 1
        }
        return index > 0
    }
}
