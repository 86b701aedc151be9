import HTTPTypes

/// The content of an entry's `_errand` member, for which the format has no members.
struct HARMark {
    static let name = "_errand"

    private(set) var failure: HAR.Failure?
    private(set) var chunks: [HAR.Chunk] = []
    private(set) var trailers = HTTPFields()
    /// The sizes of bodies that are truncated; -1: the size is not known. `nil`: the body is whole.
    private(set) var truncatedRequest: Int?
    private(set) var truncatedResponse: Int?

    init(_ entry: HAR.Entry) {
        failure = entry.failure
        chunks = entry.chunks
        trailers = entry.response?.trailers ?? HTTPFields()
        if let body = entry.request.body, body.isTruncated { truncatedRequest = body.size ?? -1 }
        if let body = entry.response?.body, body.isTruncated { truncatedResponse = body.size ?? -1 }
    }

    /// The members; none for an exchange that the format can express completely.
    var written: [(key: String, value: HARValue)] {
        var members: [(key: String, value: HARValue)] = []
        if let failure { members.append(("error", failure.written)) }
        if !chunks.isEmpty {
            // A pair for each piece: milliseconds and bytes.
            let pieces = chunks.map { HARValue.array([.milliseconds($0.time), .integer($0.size)]) }
            members.append(("chunks", .array(pieces)))
        }
        if !trailers.isEmpty { members.append(("trailers", trailers.written)) }
        if let truncatedRequest { members.append(("truncatedRequest", .integer(truncatedRequest))) }
        if let truncatedResponse { members.append(("truncatedResponse", .integer(truncatedResponse))) }
        return members
    }

    /// Reads the member; `nil`: the entry has none.
    init(reading value: JSONValue?) {
        guard let value else { return }
        if let error = value["error"], let kind = error["kind"]?.string {
            failure = HAR.Failure(
                kind: kind, message: error["message"]?.string ?? kind, curlCode: error["curlCode"]?.lenientInteger,
                systemErrorCode: error["errno"]?.lenientInteger)
        }
        chunks = (value["chunks"]?.array ?? []).compactMap { pair in
            guard let time = pair[0]?.lenientTime, let size = pair[1]?.lenientInteger, size > 0 else { return nil }
            return HAR.Chunk(time: time, size: size)
        }
        trailers = HTTPFields(reading: value["trailers"])
        truncatedRequest = value["truncatedRequest"]?.lenientInteger
        truncatedResponse = value["truncatedResponse"]?.lenientInteger
    }
}

extension HAR.Failure {
    fileprivate var written: HARValue {
        var members: [(key: String, value: HARValue)] = [("kind", .string(kind)), ("message", .string(message))]
        if let curlCode { members.append(("curlCode", .integer(curlCode))) }
        if let systemErrorCode { members.append(("errno", .integer(systemErrorCode))) }
        return .object(members)
    }
}
