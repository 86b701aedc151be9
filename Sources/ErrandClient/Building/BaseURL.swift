/// How a relative path is joined to a base URL that has a path of its own.
public enum PathJoining: Sendable, Hashable {
    /// Resolves by RFC 3986 5.2, as YTKNetwork 2 does: `/x` replaces the base's path. The default.
    case resolve
    /// Always appends the path, as YTKNetwork 1 did: base `http://h/v1` and `/x` give `http://h/v1/x`. No part of the
    /// base's path is ever lost. Dot segments are removed here too, but a path that leads above the base's path
    /// (`../x`, `a/../../x`, `%2e%2e/x`) is ``ErrandError/invalidURL``. An empty path, and a path with only a query,
    /// leave the base as it is written: `http://h/v1`, `http://h/v1?a=1`.
    case append
}

/// A base URL that was parsed once, so that in the usual case joining a path is one concatenation. A class, so that a
/// request retains one object instead of four strings.
package final class BaseURL: Sendable {
    /// `http://host:port`, without a slash.
    let origin: String
    /// The origin in the form in which RFC 6454 compares it.
    private let normalOrigin: String
    /// The URL as written, from scheme to path.
    private let written: String
    /// The written URL with a slash at the end.
    private let folder: String

    /// Throws ``ErrandError/invalidURL`` unless `text` is an absolute URL with a host that can be looked up.
    package init(_ text: String) throws(ErrandError) {
        var parts = URLReference(try PercentEncoding.url(text))
        guard let scheme = parts.scheme, let authority = parts.authority, !authority.isEmpty else {
            throw ErrandError.invalidURL.with(
                message: "the base URL \(Redaction.quoted(text)) does not have the form scheme://host")
        }
        _ = try HostName.lookedUp(by: parts)
        origin = "\(scheme)://\(authority)"
        normalOrigin = parts.origin
        parts.query = nil
        parts.fragment = nil
        parts = parts.withoutDotSegments ?? parts
        written = parts.text
        if !parts.path.hasSuffix("/") { parts.path += "/" }
        folder = parts.text
    }

    /// Joins a relative, percent-encoded `path`. Throws ``ErrandError/invalidURL`` if the path leads out of a base that
    /// it has to be appended to.
    package func joining(_ path: String, _ joining: PathJoining) throws(ErrandError) -> String {
        if joining == .append { return try appending(path) }
        guard Self.needsNoResolving(path) else {
            return URLReference(folder).resolving(URLReference(path)).text
        }
        return Self.concatenation(path.utf8.first == 0x2F ? origin : folder, path)
    }

    /// `head + tail` in one allocation: `+` copies the head and then grows it for the rest.
    private static func concatenation(_ head: String, _ tail: String) -> String {
        var (head, tail) = (head, tail)
        return head.withUTF8 { head in
            tail.withUTF8 { tail in
                String(unsafeUninitializedCapacity: head.count + tail.count) { buffer in
                    let end = buffer.initialize(fromContentsOf: head)
                    return buffer[end...].initialize(fromContentsOf: tail)
                }
            }
        }
    }

    private func appending(_ path: String) throws(ErrandError) -> String {
        switch path.utf8.first {
        case nil, 0x3F, 0x23: return written + path
        default: break
        }
        let tail = path.drop { $0 == "/" }
        let joined = folder + tail
        let hasDots = URLReference.hasDotSegment(tail)
        guard hasDots || tail.utf8.contains(UInt8(ascii: "%")) else { return joined }
        guard !Self.climbs(tail) else {
            throw ErrandError.invalidURL.with(
                message: "the path \(path.debugDescription) leads out of the base URL \(folder)")
        }
        return hasDots ? URLReference(joined).withoutDotSegments?.text ?? joined : joined
    }

    /// Whether the segments lead above their beginning. `%2e` counts as a dot: many servers decode it first.
    private static func climbs(_ path: Substring) -> Bool {
        let end = path.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? path.endIndex
        var depth = 0
        for segment in path[..<end].split(separator: "/", omittingEmptySubsequences: false) {
            switch segment.lowercased().replacing("%2e", with: ".") {
            case ".": break
            case "..": depth -= 1
            default: depth += 1
            }
            if depth < 0 { return true }
        }
        return false
    }

    /// Whether `url`, an absolute URL, has the same scheme, host and port.
    package func isOrigin(of url: String) -> Bool {
        if url.hasPrefix(origin) {
            let rest = url.utf8.dropFirst(origin.utf8.count)
            guard let next = rest.first else { return true }
            if next == UInt8(ascii: "/") || next == UInt8(ascii: "?") || next == UInt8(ascii: "#") { return true }
        }
        return URLReference(url).origin == normalOrigin
    }

    /// True if RFC 3986 5.2 is a plain concatenation: no dot segment, no `//` or `?` in front, not empty. Works on the
    /// bytes in place, because each request calls it.
    private static func needsNoResolving(_ path: String) -> Bool {
        path.utf8.withContiguousStorageIfAvailable(needsNoResolving)
            ?? Array(path.utf8).withUnsafeBufferPointer(needsNoResolving)
    }

    private static func needsNoResolving(_ path: UnsafeBufferPointer<UInt8>) -> Bool {
        var previous: UInt8 = 0x2F
        for index in path.indices {
            let byte = path[index]
            if previous == 0x2F, byte == 0x2E { return false }
            if index == 1, previous == 0x2F, byte == 0x2F { return false }
            if byte == 0x3F || byte == 0x23 { return index > 0 }
            previous = byte
        }
        return !path.isEmpty
    }
}
