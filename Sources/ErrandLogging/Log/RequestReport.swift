import HTTPTypes
import Logging

/// The loggable content of a request: read once, secrets hidden.
struct RequestReport {
    private let description: RequestDescription?
    private let response: Response?
    private let redaction: Redaction
    let attempts: Int
    let isFromCache: Bool

    init(_ request: AnyRequest, redaction: Redaction) {
        description = request.transferDescription
        response = request.response
        attempts = request.attempts.count
        isFromCache = request.isFromCache
        self.redaction = redaction
    }

    var method: String? { description?.method.rawValue }
    var url: String? { description.map { redaction.url($0.url) } }
    var status: Int? { response.flatMap { $0.statusCode > 0 ? $0.statusCode : nil } }
    var metrics: TransferMetrics? { response?.metrics }
    var requestHeaders: Logger.Metadata? { description.map { metadata($0.headers.fields) } }
    var responseHeaders: Logger.Metadata? { response.map { metadata($0.headers) } }

    /// `nil` if there is no body, or none in memory.
    func requestBody(limit: Int) -> String? {
        guard let description, !description.bodyBytes.isEmpty else { return nil }
        return text(description.bodyBytes, type: description.headers[.contentType], limit: limit)
    }

    func responseBody(limit: Int) -> String? {
        guard let response, !response.body.isEmpty else { return nil }
        // Redaction works on a truncated body too, see `Redaction.json`; so the rest need not be read.
        let bytes = response.body.withBytes { Array($0.prefix(limit)) }
        return text(bytes, type: response.header(.contentType), limit: limit, count: response.body.count)
    }

    /// A field's values, joined if the field occurs more than once.
    private func metadata(_ fields: HTTPFields) -> Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        for field in redaction.fields(fields) {
            let name = field.name.canonicalName
            let before = metadata[name].map { "\($0), " } ?? ""
            metadata[name] = "\(before)\(field.value)"
        }
        return metadata
    }

    /// The bytes as text, with control characters escaped, because a terminal would act on them. Bytes that are no text
    /// are shown as their count.
    private func text(_ bytes: [UInt8], type: String?, limit: Int, count: Int? = nil) -> String {
        let count = count ?? bytes.count
        let shown = redaction.body(Array(bytes.prefix(limit)), contentType: type)
        let rest = count > limit ? " ... \(count) bytes" : ""
        // A character may have been cut in two.
        for dropped in 0..<min(4, shown.count) {
            guard let text = String(validating: shown.dropLast(dropped), as: UTF8.self) else { continue }
            guard dropped == 0 || count > limit else { break }
            return text.unicodeScalars.reduce(into: "") { $0 += Self.escaped($1) } + rest
        }
        return "\(count) bytes"
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        scalar.isControl ? scalar.escaped(asASCII: true) : String(scalar)
    }
}
