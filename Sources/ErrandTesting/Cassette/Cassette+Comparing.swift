import Errand
import HTTPTypes

extension Cassette {
    /// The request in the form in which it is compared. `isCut`: the body goes on beyond these bytes.
    func compared(_ description: RequestDescription, body: [UInt8], isCut: Bool = false) -> HAR.Sent {
        var url = URLReference(redaction.url(description.url))
        url.fragment = nil
        let type = description.headers[.contentType]
        var fields = description.headers.fields
        var kept: HAR.Body?
        if !body.isEmpty || isCut {
            kept = HAR.Body(
                keeping: Array(body.prefix(bodyLimit)), of: body.count + (isCut ? 1 : 0), type: type, fields: &fields,
                isDecoded: false,
                limit: bodyLimit, bodyRedaction)
        }
        return HAR.Sent(
            method: description.method.rawValue, url: url.text, headers: redaction.fields(fields), body: kept)
    }

    /// The exchanges of the file with their requests in the same form.
    static func compared(
        _ recorded: [HAR.Entry], limit: Int, _ redaction: Redaction, _ bodyRedaction: Redaction
    ) -> [HAR.Entry] {
        recorded.map { entry in
            var entry = entry
            entry.request = compared(entry.request, limit: limit, redaction, bodyRedaction)
            return entry
        }
    }

    /// A request of the file in the same form. Another program may have written the file, and the redaction may have
    /// more names since then.
    static func compared(
        _ recorded: HAR.Sent, limit: Int, _ redaction: Redaction, _ bodyRedaction: Redaction
    ) -> HAR.Sent {
        var url = URLReference(redaction.url(recorded.url))
        url.fragment = nil
        var sent = recorded
        sent.url = url.text
        var fields = recorded.headers
        if let body = recorded.body {
            let type = body.mimeType.isEmpty ? fields[.contentType] : body.mimeType
            // Browsers write the decoded text, together with the coding that it had.
            let isDecoded = fields[.contentEncoding].map {
                Inflater.plain(body.bytes, codings: $0, atMost: limit) == nil
            }
            var kept = HAR.Body(
                keeping: body.bytes, of: body.bytes.count, type: type, fields: &fields, isDecoded: isDecoded ?? true,
                limit: limit, bodyRedaction)
            kept.isTruncated = kept.isTruncated || body.isTruncated
            kept.size = body.size ?? kept.size
            sent.body = kept
        }
        sent.headers = redaction.fields(fields)
        return sent
    }
}
