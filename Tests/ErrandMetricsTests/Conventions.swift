import Foundation

/// What OpenTelemetry's model says of the spans, metrics and attributes of HTTP clients: Conventions.json, which
/// `scripts/conventions` writes.
struct Conventions: Decodable {
    struct Attribute: Decodable {
        let type: String
        let stability: String
        /// The values that the conventions know; `nil`: any.
        let values: [String]?
    }

    struct Metric: Decodable {
        let instrument: String
        let unit: String
        let stability: String
        /// The requirement levels by name.
        let attributes: [String: String]
    }

    struct TracedOperation: Decodable {
        let kind: String
        let stability: String
        let attributes: [String: String]
    }

    let version: String
    let commit: String
    let attributes: [String: Attribute]
    let metrics: [String: Metric]
    let spans: [String: TracedOperation]

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func read() throws -> Conventions {
        let file = root.appendingPathComponent("Tests/ErrandMetricsTests/Conventions.json")
        return try JSONDecoder().decode(Conventions.self, from: Data(contentsOf: file))
    }

    /// A document of the package.
    static func document(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The name of the model for an attribute, which is the beginning of its own where the model has a template:
    /// `http.request.header` for `http.request.header.accept`; `nil`: the conventions have none.
    func modelName(of name: String) -> String? {
        if attributes[name] != nil { return name }
        return attributes.first { name.hasPrefix($0.key + ".") && $0.value.type.hasPrefix("template[") }?.key
    }

    /// The names in backquotes in the paragraph of a document with these words.
    static func names(with words: String, in document: String) -> Set<String> {
        let paragraph = document.components(separatedBy: "\n\n").first { $0.contains(words) } ?? ""
        let parts = paragraph.components(separatedBy: "`")
        return Set(parts.indices.filter { $0 % 2 == 1 }.map { parts[$0] })
    }
}
