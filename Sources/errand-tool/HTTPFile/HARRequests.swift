import Errand
import HTTPTypes

/// The exchanges of a HAR file as requests that can be resent.
enum HARRequests {
    /// Fields of the connection, which the engine sets itself.
    private static let ownFields: Set<String> = [
        "host", "content-length", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te",
    ]

    /// A request has the number of its entry, in the order of the start times. An entry that cannot be resent is left
    /// out, with a warning. Hidden fields are left out too.
    static func file(_ bytes: [UInt8]) throws(HTTPFileError) -> HTTPFile {
        let har: HAR
        do throws(ErrandError) {
            har = try HAR(parsing: bytes)
        } catch {
            throw HTTPFileError(nil, error.message)
        }
        var file = HTTPFile()
        var hidden = 0
        for (index, entry) in har.sorted.entries.enumerated() {
            let position = FilePosition(line: 1)
            if let problem = problem(of: entry.request) {
                let text = "entry \(index + 1) is left out: \(problem)"
                file.warnings.append(HTTPFile.Warning(position: position, text: text))
                continue
            }
            file.requests.append(request(entry.request, number: index + 1, at: position, hidden: &hidden))
        }
        if hidden > 0 {
            let fields = hidden == 1 ? "1 field" : "\(hidden) fields"
            let text = "the value of \(fields) was hidden when it was recorded; such fields are left out"
            file.warnings.append(HTTPFile.Warning(position: FilePosition(line: 1), text: text))
        }
        return file
    }

    /// Why the request cannot be resent; `nil`: it can.
    private static func problem(of sent: HAR.Sent) -> String? {
        let scheme = sent.url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https" else { return "its URL is neither http nor https" }
        if let body = sent.body, body.isTruncated {
            return "the file has only the first \(body.bytes.count) bytes of its body"
        }
        return hiddenPlace(of: sent).map { "\($0) was hidden when it was recorded" }
    }

    /// The part of the URL or of the body that was hidden; `nil`: nothing was. The server would get the placeholder
    /// instead.
    private static func hiddenPlace(of sent: HAR.Sent) -> String? {
        let url = URLReference(sent.url)
        if url.authority?.contains(Redaction.placeholder) == true { return "the user in its URL" }
        for item in (url.query ?? "").split(separator: "&") where item.contains(Redaction.placeholder) {
            return "the value of '\(item.prefix { $0 != "=" })' in its URL"
        }
        if sent.url.contains(Redaction.placeholder) { return "a part of its URL" }
        guard let body = sent.body else { return nil }
        return String(decoding: body.bytes, as: UTF8.self).contains(Redaction.placeholder) ? "a value in its body" : nil
    }

    private static func request(
        _ sent: HAR.Sent, number: Int, at position: FilePosition, hidden: inout Int
    ) -> HTTPFileRequest {
        var request = HTTPFileRequest(position: position, url: HTTPTemplate(literal: sent.url, at: position))
        request.number = number
        request.method = sent.method
        // Redirects have their own entries.
        request.options.followsRedirects = false
        for field in sent.headers where !ownFields.contains(field.name.canonicalName) {
            guard !field.value.contains(Redaction.placeholder) else {
                hidden += 1
                continue
            }
            request.fields.append(
                HTTPFileRequest.Field(
                    name: field.name.rawName, value: HTTPTemplate(literal: field.value, at: position),
                    position: position))
        }
        if let body = sent.body, !body.bytes.isEmpty { request.body = [.bytes(body.bytes)] }
        return request
    }
}
