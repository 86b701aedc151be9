public import HTTPTypes

/// A response: status, header fields, body. A value of one reference; the memory behind it is the engine's own, never
/// copied, and freed with the last value that refers to it. Fields and metrics are parsed when they are read.
public struct Response: Sendable {
    let storage: ResponseStorage

    init(storage: ResponseStorage) {
        self.storage = storage
    }

    /// Makes a response that came from no network, for stubs and caches.
    public init(statusCode: Int, headers: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        let head = Array("HTTP/1.1 \(statusCode) \r\n".utf8) + HeaderBlock(headers).bytes
        self.storage = OwnedResponseStorage(statusCode: statusCode, head: head, body: body)
    }

    /// The same with what it cost.
    init(statusCode: Int, headers: HTTPFields, body: [UInt8] = [], metrics: TransferMetrics?) {
        let head = Array("HTTP/1.1 \(statusCode) \r\n".utf8) + HeaderBlock(headers).bytes
        storage = OwnedResponseStorage(statusCode: statusCode, head: head, body: body, metrics: metrics)
    }

    /// 100...599; 0 where a failed request has no response.
    public var statusCode: Int { storage.statusCode }

    /// The status as HTTPTypes has it.
    public var status: HTTPResponse.Status { HTTPResponse.Status(code: max(0, min(999, storage.statusCode))) }

    /// The header fields, parsed now; keep them if you read many.
    public var headers: HTTPFields { HeaderParser.fields(storage.fieldBlock) }

    /// The value of the first field of that name, without parsing the others.
    public func header(_ name: HTTPField.Name) -> String? {
        HeaderParser.firstValue(of: name.canonicalName, in: storage.fieldBlock)
    }

    /// The status line and the fields as they came, each line ended by CRLF.
    public var rawHead: [UInt8] { Array(storage.head) }

    /// Trailer fields (RFC 9110 6.5), parsed now.
    public var trailers: HTTPFields { HeaderParser.fields(storage.trailers) }

    /// The body, decompressed where the engine was asked to.
    public var body: Body { Body(storage: storage) }

    /// How long each phase took, and what it cost.
    public var metrics: TransferMetrics { storage.metrics }
}

extension Response {
    /// The body as text: in the charset of `Content-Type` where that is UTF-8, US-ASCII or ISO 8859-1, else UTF-8.
    /// Throws ``ErrandError/responseDecodingFailed`` for bytes that are not valid in it, or another charset.
    public func text() throws(ErrandError) -> String {
        let charset = header(.contentType).flatMap(Self.charset) ?? "utf-8"
        let text: String? =
            switch charset {
            case "utf-8", "utf8", "us-ascii", "ascii":
                body.withBytes { String(validating: $0, as: UTF8.self) }
            case "iso-8859-1", "latin1":
                body.withBytes { String(String.UnicodeScalarView($0.map { Unicode.Scalar($0) })) }
            default:
                nil
            }
        guard let text else {
            throw ErrandError.responseDecodingFailed.with(
                message: "the body is not text in charset '\(charset)'", response: self)
        }
        return text
    }

    private static func charset(_ contentType: String) -> String? {
        for parameter in contentType.split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmed.lowercased() == "charset" else { continue }
            return parts[1].trimmed.lowercased().filter { $0 != "\"" }
        }
        return nil
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return start.prefix(0) }
        return start[...last]
    }
}

extension Response: CustomStringConvertible {
    /// `200 OK, 12 bytes`.
    public var description: String {
        "\(status), \(body.count) bytes"
    }
}
