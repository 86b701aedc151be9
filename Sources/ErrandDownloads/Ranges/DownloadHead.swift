import HTTPTypes

/// The fields of a response's head that matter to a download.
struct DownloadHead: Sendable, Hashable {
    var statusCode: Int
    var validators = DownloadValidators()
    var contentRange: ContentRange?
    /// The length of the body that follows.
    var contentLength: Int64?
    /// Whether `Accept-Ranges` promises or refuses ranges; `nil` if the field is missing.
    var acceptsRanges: Bool?
    /// The body has a content coding. Its bytes, decoded or not, are not the bytes of the requested ranges.
    var isEncoded = false
    /// `multipart/byteranges`, which a download never requests.
    var isMultipart = false
    var retryAfter: Duration?

    init(statusCode: Int) {
        self.statusCode = statusCode
    }

    /// `isDecoding`: the engine decodes bodies, so `Content-Length` is not the length of the delivered body.
    init(statusCode: Int, _ fields: HTTPFields, isDecoding: Bool = false) {
        self.statusCode = statusCode
        isEncoded = Self.listsCoding(fields[.contentEncoding] ?? "")
        validators = isEncoded ? .ofEncoded : DownloadValidators(fields)
        contentRange = fields[.contentRange].flatMap { ContentRange($0) }
        if !isEncoded || !isDecoding { contentLength = fields[.contentLength].flatMap { ContentRange.number($0) } }
        acceptsRanges = fields[.acceptRanges].flatMap { value in
            switch value.lowercased() {
            case "bytes": true
            case "none": false
            default: nil
            }
        }
        if isEncoded { acceptsRanges = false }
        isMultipart = fields[.contentType]?.lowercased().hasPrefix("multipart/byteranges") ?? false
        retryAfter = fields.retryAfter
    }

    private static func listsCoding(_ value: String) -> Bool {
        value.split(whereSeparator: { ", \t".contains($0) }).contains { $0.lowercased() != "identity" }
    }

    /// The length of the whole content, if this head contains it.
    var total: Int64? {
        switch statusCode {
        case 206, 416: contentRange?.total
        case 200: contentLength
        default: nil
        }
    }
}
