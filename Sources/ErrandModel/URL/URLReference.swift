import Glibc

/// A URL or relative reference, split by RFC 3986 appendix B. This type only splits and joins; the engine's own parser
/// checks the parts before anything is sent.
package struct URLReference: Equatable {
    package var scheme: Substring?
    package var authority: Substring?
    package var path: Substring
    package var query: Substring?
    package var fragment: Substring?

    /// Compares bytes, not `Character`: "#" before a combining mark is a delimiter, too, and bytes are ten times
    /// faster.
    package init(_ text: String) {
        var rest = Substring(text)
        if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "#")) {
            fragment = rest[rest.utf8.index(after: mark)...]
            rest = rest[..<mark]
        }
        if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[rest.utf8.index(after: mark)...]
            rest = rest[..<mark]
        }
        if let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = rest[..<colon]
            rest = rest[rest.utf8.index(after: colon)...]
        }
        if rest.utf8.starts(with: "//".utf8) {
            rest = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        path = rest
    }

    /// Whether the text is `http://` or `https://` with an authority and without a segment that begins with a dot. Most
    /// absolute URLs are, and need not be split. Every request calls this, so it reads the stored bytes without a copy.
    package static func isPlainAbsolute(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            let isSecure = bytes.count > 4 && bytes[4] == UInt8(ascii: "s")
            let prefix: StaticString = isSecure ? "https://" : "http://"
            let length = prefix.utf8CodeUnitCount
            guard bytes.count > length, let base = bytes.baseAddress, memcmp(base, prefix.utf8Start, length) == 0
            else { return false }
            switch bytes[length] {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): return false
            default: break
            }
            var previous: UInt8 = 0
            for byte in bytes[length...] {
                if byte == UInt8(ascii: "."), previous == UInt8(ascii: "/") { return false }
                previous = byte
            }
            return true
        } ?? false
    }

    /// Whether browsers would find an authority where RFC 3986 finds none, or another authority: in WHATWG's URL
    /// standard `\\` is a slash (4.4, the special authority and relative states), and leading spaces are ignored. This
    /// library encodes both, which would give `http://good\\@evil/` and `/\\evil` a third reading. For text that is not
    /// encoded yet.
    package static func hidesAuthority(_ text: String) -> Bool {
        let trimmed = text.utf8.drop { $0 == UInt8(ascii: " ") }
        let reference = URLReference(String(Substring(trimmed)))
        if let authority = reference.authority, authority.utf8.contains(UInt8(ascii: "\\")) { return true }
        if trimmed.startIndex > text.startIndex, reference.scheme != nil || reference.authority != nil { return true }
        guard reference.scheme == nil, reference.authority == nil else { return false }
        return reference.path.utf8.starts(with: [UInt8(ascii: "\\")])
            || reference.path.utf8.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "\\")])
    }

    /// RFC 3986 3.1.
    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, (first | 0x20) >= 0x61, (first | 0x20) <= 0x7A else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E: true
            default: false
            }
        }
    }

    /// RFC 3986 5.3.
    package var text: String {
        var result = ""
        if let scheme { result += scheme + ":" }
        if let authority { result += "//" + authority }
        result += path
        if let query { result += "?" + query }
        if let fragment { result += "#" + fragment }
        return result
    }

    /// The target of `reference`, relative to this absolute URL (RFC 3986 5.2.2).
    package func resolving(_ reference: URLReference) -> URLReference {
        var target = reference
        if reference.scheme != nil {
            target.path = Self.removingDotSegments(reference.path)
            return target
        }
        target.scheme = scheme
        if reference.authority != nil {
            target.path = Self.removingDotSegments(reference.path)
            return target
        }
        target.authority = authority
        if reference.path.isEmpty {
            target.path = path
            target.query = reference.query ?? query
        } else if reference.path.hasPrefix("/") {
            target.path = Self.removingDotSegments(reference.path)
        } else {
            target.path = Self.removingDotSegments(merged(with: reference.path))
        }
        return target
    }

    /// RFC 3986 5.2.3.
    private func merged(with relative: Substring) -> Substring {
        guard let slash = path.lastIndex(of: "/") else {
            return authority == nil ? relative : "/" + relative
        }
        return path[...slash] + relative
    }

    /// The same without dot segments; `nil` if there are none, which is the usual case.
    package var withoutDotSegments: URLReference? {
        guard Self.hasDotSegment(path) else { return nil }
        var result = self
        result.path = Self.removingDotSegments(path)
        return result
    }

    /// Whether a segment of the path may be "." or "..": whether one begins with a dot.
    package static func hasDotSegment(_ path: Substring) -> Bool {
        var previous = UInt8(ascii: "/")
        for byte in path.utf8 {
            if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { return false }
            if byte == UInt8(ascii: "."), previous == UInt8(ascii: "/") { return true }
            previous = byte
        }
        return false
    }

    /// RFC 3986 5.2.4.
    private static func removingDotSegments(_ path: Substring) -> Substring {
        guard hasDotSegment(path) else { return path }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let floor = path.hasPrefix("/") ? 1 : 0
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".":
                if isLast { kept.append("") }
            case "..":
                if kept.count > floor { kept.removeLast() }
                if isLast { kept.append("") }
            default:
                kept.append(segment)
            }
        }
        return Substring(kept.joined(separator: "/"))
    }

    /// The origin by RFC 6454: scheme, host and port, in lower case, with the default port.
    package var origin: String {
        let scheme = (scheme ?? "").lowercased()
        var host = (authority ?? "").lowercased()
        if let at = host.lastIndex(of: "@") { host = String(host[host.index(after: at)...]) }
        let afterAddress = host.lastIndex(of: "]").map { host[$0...] } ?? host[...]
        if let colon = afterAddress.lastIndex(of: ":") {
            if host.index(after: colon) < host.endIndex { return "\(scheme)://\(host)" }
            host.removeLast()
        }
        return "\(scheme)://\(host):\(scheme == "https" ? 443 : 80)"
    }
}
