import Errand
import HTTPTypes

extension RequestMatching {
    /// The differences by these rules; empty: the recorded request matches the one that is sent.
    func differences(recorded: HAR.Sent, sent: HAR.Sent) -> [RequestDifference] {
        var found: [RequestDifference] = []
        func compare(_ part: RequestDifference.Part, _ recorded: String, _ sent: String) {
            guard recorded != sent else { return }
            found.append(RequestDifference(part, recorded: recorded, sent: sent))
        }
        if comparesMethod { compare(.method, recorded.method, sent.method) }
        let (one, other) = (ComparedURL(recorded.url), ComparedURL(sent.url))
        if url.contains(.scheme) { compare(.scheme, one.scheme, other.scheme) }
        if url.contains(.host) { compare(.host, one.host, other.host) }
        if url.contains(.port) { compare(.port, one.port, other.port) }
        if url.contains(.path) { compare(.path, one.path, other.path) }
        if url.contains(.query) { compare(.query, items(of: one), items(of: other)) }
        for name in fields.sorted(by: { $0.canonicalName < $1.canonicalName }) {
            compare(.field(name.canonicalName), recorded.headers[name] ?? "", sent.headers[name] ?? "")
        }
        if let difference = bodyDifference(recorded.body, sent.body) { found.append(difference) }
        return found
    }

    /// The compared parts except the body. They are equal if ``differences(recorded:sent:)`` finds no difference
    /// outside the body.
    func head(of sent: HAR.Sent) -> [String] {
        let parts = ComparedURL(sent.url)
        var head: [String] = []
        if comparesMethod { head.append(sent.method) }
        if url.contains(.scheme) { head.append(parts.scheme) }
        if url.contains(.host) { head.append(parts.host) }
        if url.contains(.port) { head.append(parts.port) }
        if url.contains(.path) { head.append(parts.path) }
        if url.contains(.query) { head.append(items(of: parts)) }
        for name in fields.sorted(by: { $0.canonicalName < $1.canonicalName }) { head.append(sent.headers[name] ?? "") }
        return head
    }

    /// A body in the form in which it is compared.
    enum BodyKey: Sendable, Hashable {
        /// Bodies do not count.
        case ignored
        case bytes([UInt8])
        case json(JSONValue)
    }

    /// The form of a recorded body; `nil`: the cassette has only its beginning.
    func key(ofRecorded body: HAR.Body?) -> BodyKey? {
        if self.body == .ignored { return .ignored }
        guard body?.isTruncated != true else { return nil }
        let bytes = body?.withoutBoundary ?? []
        guard isJSON(body), let value = BodyDifference.json(bytes) else { return .bytes(bytes) }
        return .json(value)
    }

    /// The forms of recorded bodies that match a body that is sent.
    func keys(ofSent body: HAR.Body?) -> [BodyKey] {
        if self.body == .ignored { return [.ignored] }
        guard body?.isTruncated != true else { return [] }
        let bytes = body?.withoutBoundary ?? []
        guard self.body != .bytes, let value = BodyDifference.json(bytes) else { return [.bytes(bytes)] }
        return [.bytes(bytes), .json(value)]
    }

    private func isJSON(_ recorded: HAR.Body?) -> Bool {
        switch body {
        case .ignored, .bytes: return false
        case .json: return true
        case .byType:
            let type = recorded?.mimeType.prefix { $0 != ";" }.lowercased() ?? ""
            return type.hasSuffix("/json") || type.hasSuffix("+json")
        }
    }

    private func items(of url: ComparedURL) -> String {
        let items = url.query.split(separator: "&")
        func name(_ item: Substring) -> String { PercentEncoding.decoded(item.prefix { $0 != "=" }) }
        let counted: [Substring]
        switch query {
        case .exact: return url.query
        case .anyOrder: counted = items
        case .only(let names): counted = items.filter { names.contains(name($0)) }
        case .ignoring(let names): counted = items.filter { !names.contains(name($0)) }
        }
        return counted.sorted().joined(separator: "&")
    }

    func bodyDifference(_ recorded: HAR.Body?, _ sent: HAR.Body?) -> RequestDifference? {
        if body == .ignored { return nil }
        let kept = recorded?.withoutBoundary ?? []
        var other = sent?.withoutBoundary ?? []
        // The cassette has only the beginning.
        if recorded?.isTruncated == true {
            other = Array(other.prefix(kept.count))
        } else if sent?.isTruncated == true, other.starts(with: kept) {
            // The recorded body is complete, and the sent body continues beyond the part that is kept.
            return RequestDifference(
                .body(at: "byte \(kept.count)"), recorded: "", sent: "more than \(other.count) bytes")
        }
        guard kept != other else { return nil }
        if isJSON(recorded), let one = BodyDifference.json(kept), let other = BodyDifference.json(other) {
            return BodyDifference.between(recorded: one, sent: other)
        }
        return BodyDifference.between(recorded: kept, sent: other)
    }
}

extension HAR.Body {
    /// The bytes. A multipart body gets a constant delimiter, because its boundary is random if a part is a file.
    fileprivate var withoutBoundary: [UInt8] {
        guard let delimiter = Redaction.delimiter(ofType: mimeType) else { return bytes }
        return bytes.replacing(delimiter, by: Array("--boundary".utf8))
    }
}

/// The parts of a URL that are compared.
private struct ComparedURL {
    let scheme, host, port, path, query: String

    init(_ url: String) {
        let reference = URLReference(url)
        let scheme = (reference.scheme ?? "").lowercased()
        var authority = (reference.authority ?? "").lowercased()
        if let at = authority.lastIndex(of: "@") { authority = String(authority[authority.index(after: at)...]) }
        let start = authority.lastIndex(of: "]") ?? authority.startIndex
        let colon = authority[start...].lastIndex(of: ":")
        let given = colon.map { String(authority[authority.index(after: $0)...]) } ?? ""
        self.scheme = scheme
        host = String(authority[..<(colon ?? authority.endIndex)])
        port = given.isEmpty ? scheme == "https" ? "443" : "80" : given
        path = reference.path.isEmpty ? "/" : String(reference.path)
        query = String(reference.query ?? "")
    }
}
