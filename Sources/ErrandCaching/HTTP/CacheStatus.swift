/// How a cache handled a request, as a member of `Cache-Status` (RFC 9211).
package struct CacheStatus: Sendable, Hashable {
    /// RFC 9211 2.2: why the request went to the server.
    package enum Forward: String, Sendable, Hashable {
        case bypass
        case method
        case uriMiss = "uri-miss"
        case varyMiss = "vary-miss"
        case miss
        case request
        case stale
    }

    /// The name of the cache.
    package var cache = "errand"
    /// `nil`: a hit.
    package var forward: Forward?
    /// The server's status code, if it differs from the status of the response (RFC 9211 2.3).
    package var forwardStatus: Int?
    /// Seconds that the response stays fresh; below 0 if it is stale.
    package var timeToLive: Int64?
    package var isStored = false
    /// Whether the request waited for the response to an equal request.
    package var isCollapsed = false
    var key: String?
    /// Further text of this library, such as the reason of a failure.
    package var detail: String?

    /// `errand; hit; ttl=376`.
    var text: String {
        var text = Self.isToken(cache) ? cache : Self.quoted(cache)
        // RFC 9211 2: either `hit` or `fwd`, never both.
        if let forward { text += "; fwd=" + forward.rawValue } else { text += "; hit" }
        if forward != nil {
            if let forwardStatus { text += "; fwd-status=\(forwardStatus)" }
        }
        if let timeToLive { text += "; ttl=\(min(max(timeToLive, -Self.greatest), Self.greatest))" }
        if forward != nil {
            if isStored { text += "; stored" }
            if isCollapsed { text += "; collapsed" }
        }
        if let key { text += "; key=" + Self.quoted(key) }
        if let detail { text += "; detail=" + (Self.isToken(detail) ? detail : Self.quoted(detail)) }
        return text
    }

    /// Appended after the members of caches nearer to the server (RFC 9211 2).
    func appended(to field: String?) -> String {
        guard let field, !field.isEmpty else { return text }
        return field + ", " + text
    }

    /// RFC 9651 3.3.1.
    private static let greatest: Int64 = 999_999_999_999_999

    /// RFC 9651 3.3.4.
    private static func isToken(_ text: String) -> Bool {
        guard let first = text.utf8.first, first == 0x2A || (0x61...0x7A).contains(first | 0x20) else { return false }
        return text.utf8.allSatisfy { FieldTokens.isTokenByte($0) || $0 == 0x3A || $0 == 0x2F }
    }

    /// RFC 9651 3.3.3: printable ASCII only; other bytes are percent-encoded.
    private static func quoted(_ text: String) -> String {
        let printable = PercentEncoding.encode(text) { (0x20...0x7E).contains($0) }
        var quoted = "\""
        for character in printable.unicodeScalars {
            if character == "\"" || character == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(character)
        }
        return quoted + "\""
    }
}

extension CacheStatus.Forward {
    /// `nil` for decisions that send nothing to the server, or only in the background.
    package init?(_ decision: HTTPCacheDecision) {
        switch decision {
        case .fresh, .stale, .unsatisfiable: return nil
        case .revalidate(_, _, .stale): self = .stale
        case .revalidate(_, _, .request): self = .request
        case .miss(.method): self = .method
        case .miss(.bypass): self = .bypass
        case .miss(.nothingStored): self = .uriMiss
        case .miss(.vary): self = .varyMiss
        case .miss(.unusable): self = .miss
        }
    }
}

/// This cache's information about a response.
final class HTTPCacheInfo: CacheInfo {
    let isServed: Bool
    let status: CacheStatus

    init(isServed: Bool, _ status: CacheStatus) {
        self.isServed = isServed
        self.status = status
    }

    var isStored: Bool { status.isStored }

    var label: String {
        guard let forward = status.forward else { return (status.timeToLive ?? 0) < 0 ? "stale-hit" : "hit" }
        if status.forwardStatus == 304 { return "revalidated" }
        // Served: the server failed, and a stored response was used instead.
        return isServed ? "stand-in" : forward.rawValue
    }

    func cacheStatus(behind fields: String?) -> String { status.appended(to: fields) }
}
