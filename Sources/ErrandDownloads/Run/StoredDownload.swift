import HTTPTypes

/// The stored file, which takes the place of the body in a download's response.
struct StoredDownload: Sendable {
    let path: String
    let byteCount: Int64
    let sha256: String?
    let resumedFrom: Int64
    let validators: DownloadValidators

    /// The response of a complete download; `head`: `nil` if nothing was sent.
    func response(head: Response?, end: Response?) -> Response {
        (head ?? Response(statusCode: 200, headers: fields)).assembled([], by: end, attachment: self)
    }

    private var fields: HTTPFields {
        var fields = HTTPFields()
        fields[.contentLength] = String(byteCount)
        fields[.eTag] = validators.entityTag
        fields[.lastModified] = validators.lastModified
        return fields
    }
}
