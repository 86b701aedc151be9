import Glibc
import HTTPTypes

extension HAR.Sent {
    /// The request of a transfer with its secrets hidden.
    init(
        _ description: RequestDescription, _ body: HARBytes, version: String, wireSize: Int,
        _ options: HAROptions
    ) {
        var reference = URLReference(options.redaction.url(description.url))
        reference.fragment = nil
        var fields = description.headers.fields
        let body = Self.body(of: description, body, &fields, options)
        self.init(
            method: description.method.rawValue, url: reference.text, httpVersion: version,
            headers: options.redaction.fields(fields), body: body, wireSize: wireSize)
    }

    /// `nil`: the request has no body.
    private static func body(
        of description: RequestDescription, _ bytes: HARBytes, _ fields: inout HTTPFields, _ options: HAROptions
    ) -> HAR.Body? {
        let type = description.headers[.contentType]
        switch description.body {
        case .none: return nil
        case .file(_, _, let length) where bytes.count == 0 && length != 0:
            return HAR.Body(mimeType: type ?? "", size: length.map { Int(clamping: $0) }, isTruncated: true)
        case .bytes, .data, .shared, .stream, .source, .file:
            return bytes.body(type: type, fields: &fields, options)
        }
    }
}

extension HAR.Received {
    /// The response of a transfer with its secrets hidden.
    init(
        _ response: Response, _ body: HARBytes, version: String, trailers: HTTPFields, wireSize: Int, isDecoded: Bool,
        _ options: HAROptions
    ) {
        // `HTTP/1.1 200 OK`
        let line = String(decoding: response.rawHead.prefix { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self)
        let words = line.split(separator: " ", maxSplits: 2)
        let redaction = options.redaction
        var fields = response.headers
        let body = body.body(
            type: response.header(.contentType), fields: &fields, isDecoded: isDecoded, options,
            by: options.pseudonyms)
        self.init(
            status: response.statusCode, statusText: words.count > 2 ? String(words[2]) : "",
            httpVersion: version == "unknown" ? words.first.map(String.init) ?? version : version,
            headers: redaction.fields(fields), trailers: redaction.fields(trailers), body: body, wireSize: wireSize)
    }
}

extension HARBytes {
    /// A stretch of a file, as far as it can be read.
    init(file path: String, offset: UInt64, length: Int64?, limit: Int) {
        self.init()
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        var position = Int64(clamping: offset)
        let end = length.map { position.addingReportingOverflow($0).partialValue } ?? Int64(status.st_size)
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while position < end, count < limit {
            let wanted = Int(min(Int64(chunk.count), end - position))
            let got = pread(file, &chunk, wanted, off_t(position))
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return }
            add(Array(chunk[..<got]), limit: limit)
            position += Int64(got)
        }
        if position < end { skip(Int(clamping: end - position)) }
    }
}
