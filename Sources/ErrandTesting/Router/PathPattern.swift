import Errand

/// The path of a route: `/users/{id}`, `/files/**`, `http://other/users`. A pure value.
struct PathPattern: Sendable {
    private enum Segment {
        case text(String)
        /// `{name}`: one segment that is not empty.
        case parameter(String)
        /// `*`
        case one
        /// `**` at the end: any number of segments.
        case rest
    }

    /// The pattern as it was given.
    let text: String
    /// The scheme, host and port that are required; `nil`: any.
    private let origin: String?
    private let segments: [Segment]

    init(_ text: String) {
        self.text = text
        let reference = URLReference(text)
        origin = reference.authority == nil ? nil : reference.origin
        let parts = Self.parts(reference.path)
        segments = parts.enumerated().map { index, part in
            if part == "*" { return .one }
            if part == "**", index == parts.count - 1 { return .rest }
            if part.hasPrefix("{"), part.hasSuffix("}"), part.count > 2 {
                return .parameter(String(part.dropFirst().dropLast()))
            }
            return .text(PercentEncoding.decoded(part))
        }
    }

    /// The segments after the first slash.
    private static func parts(_ path: Substring) -> [Substring] {
        let path = path.hasPrefix("/") ? path.dropFirst() : path
        return path.split(separator: "/", omittingEmptySubsequences: false)
    }

    /// The parameters by name, decoded; `nil`: the URL does not match.
    func parameters(of url: String) -> [String: String]? {
        let reference = URLReference(url)
        if let origin, origin != reference.origin { return nil }
        let parts = Self.parts(reference.path)
        var parameters: [String: String] = [:]
        for (index, segment) in segments.enumerated() {
            if case .rest = segment { return parameters }
            guard index < parts.count else { return nil }
            let part = PercentEncoding.decoded(parts[index])
            switch segment {
            case .text(let text): if text != part { return nil }
            case .parameter(let name):
                guard !part.isEmpty else { return nil }
                parameters[name] = part
            case .one: if part.isEmpty { return nil }
            case .rest: break
            }
        }
        return parts.count == segments.count ? parameters : nil
    }
}
