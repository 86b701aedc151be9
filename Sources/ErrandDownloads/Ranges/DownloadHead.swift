import HTTPTypes

/// What a response's head says that matters to a download.
struct DownloadHead: Sendable, Hashable {
    var statusCode: Int
    var validators = DownloadValidators()
    var contentRange: ContentRange?
    /// Of the body that follows.
    var contentLength: Int64?
    /// Whether it promises or refuses ranges (`Accept-Ranges`); `nil` where it says nothing.
    var acceptsRanges: Bool?
    /// The body has a content coding. Its bytes, decoded or not, are not those of the ranges that are asked for.
    var isEncoded = false
    /// `multipart/byteranges`, which nobody has asked for.
    var isMultipart = false
    var retryAfter: Duration?

    init(statusCode: Int) {
        self.statusCode = statusCode
    }

    /// `isDecoding`: the engine decodes bodies on the way, so that the field's length is not that of what comes.
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
        retryAfter = fields[.retryAfter].flatMap { Self.wait($0, from: fields[.date]) }
    }

    private static func listsCoding(_ value: String) -> Bool {
        value.split(whereSeparator: { ", \t".contains($0) }).contains { $0.lowercased() != "identity" }
    }

    /// RFC 9110 10.2.3: seconds, or a date, which is read by the server's own clock.
    private static func wait(_ value: String, from date: String?) -> Duration? {
        if let seconds = ContentRange.number(value) { return .seconds(min(seconds, 1 << 31)) }
        guard let until = DownloadValidators.time(value), let date, let sent = DownloadValidators.time(date) else {
            return nil
        }
        return .milliseconds(min(max(until - sent, 0), 1000 << 31))
    }

    /// The whole content's length, as far as this head tells it.
    var total: Int64? {
        switch statusCode {
        case 206, 416: contentRange?.total
        case 200: contentLength
        default: nil
        }
    }
}
