package import FoundationEssentials

/// A body as a transport takes it, with the values for its header fields.
package struct WireBody {
    package var body: RequestDescription.Body
    package var contentType: String?
    /// `gzip` or `nil`.
    package var contentEncoding: String?
    /// The boundary of a multipart body, as a parameter of its type.
    package var boundary: String?

    package init(
        body: RequestDescription.Body, contentType: String? = nil, contentEncoding: String? = nil,
        boundary: String? = nil
    ) {
        self.body = body
        self.contentType = contentType
        self.contentEncoding = contentEncoding
        self.boundary = boundary
    }
}

extension RequestBody {
    /// Whether there is no body. `.string("")` is a body of 0 bytes.
    package var isNone: Bool {
        if case .none = storage { true } else { false }
    }

    /// Throws if the body cannot be sent; no file stays open. `encoder`: for JSON bodies without an encoder of their
    /// own.
    package func wire(_ encoder: @autoclosure () -> JSONEncoder = SharedCoders.jsonEncoder) throws(ErrandError)
        -> WireBody
    {
        switch storage {
        case .none:
            return WireBody(body: .none)
        case .bytes(let bytes):
            return WireBody(body: .bytes(bytes), contentType: contentType)
        case .data(let data):
            return WireBody(body: .data(data), contentType: contentType)
        case .shared(let bytes):
            return WireBody(body: .shared(bytes), contentType: contentType)
        case .json(let encode):
            do {
                return WireBody(body: .data(try encode(encoder().withSortedKeys)), contentType: contentType)
            } catch {
                throw Self.failed(error)
            }
        case .encodable(let encode):
            do {
                return WireBody(body: .data(try encode()), contentType: contentType)
            } catch {
                throw Self.failed(error)
            }
        case .custom(let encode):
            do {
                return WireBody(body: .bytes(try encode()), contentType: contentType)
            } catch {
                throw Self.failed(error)
            }
        case .form(let items):
            return WireBody(body: .bytes(Array(PercentEncoding.query(items).utf8)), contentType: contentType)
        case .file(let path, let offset, let length):
            // The current size counts for every transfer: if the file is shorter at a redirect, it must not be sent as
            // if it were the whole body.
            let source = try FileBodySource(path: path, offset: offset, length: length)
            return WireBody(
                body: .file(path: path, offset: offset, length: source.count), contentType: contentType)
        case .source(let source):
            if let length = source.length, length < 0 {
                throw ErrandError.invalidBody.with(message: "the body's length is \(length), expected 0 or more")
            }
            return WireBody(body: .source(source), contentType: contentType)
        case .multipart(let parts, let boundary):
            // Without parts there is nothing to separate: the request has no body, as with AFNetworking.
            if parts.isEmpty { return WireBody(body: .none) }
            var encoder = try MultipartEncoder(boundary: boundary, for: parts)
            for part in parts { try encoder.add(part) }
            let boundary = encoder.boundaryValue
            return WireBody(
                body: encoder.finish(), contentType: "multipart/form-data; boundary=" + boundary, boundary: boundary)
        case .gzip(let body, let level):
            return try Self.compressed(try body.wire(encoder()), level: level)
        }
    }

    private static func failed(_ error: any Error) -> ErrandError {
        ErrandError.requestEncodingFailed.with(message: "the body cannot be encoded: \(error)", underlying: error)
    }

    private static func compressed(_ wire: WireBody, level: Int) throws(ErrandError) -> WireBody {
        var wire = wire
        switch wire.body {
        case .none, .stream:
            return wire
        case .bytes(let bytes):
            wire.body = .bytes(try Deflater(level: level).compress(bytes, isLast: true))
        case .data(let data):
            wire.body = .bytes(try Deflater(level: level).compress(Array(data), isLast: true))
        case .shared(let bytes):
            wire.body = .bytes(try Deflater(level: level).compress(bytes.copy(), isLast: true))
        case .file(let path, let offset, let length):
            let source = try FileBodySource(path: path, offset: offset, length: length)
            wire.body = .source(try GzipBodySource(source, level: level))
        case .source(let source):
            wire.body = .source(try GzipBodySource(source, level: level))
        }
        wire.contentEncoding = wire.contentEncoding.map { $0 + ", gzip" } ?? "gzip"
        return wire
    }

    /// The same body with `fields` before its parts; `nil` if it is not a multipart body.
    package func addingParts(_ fields: [QueryStyle.Field]) -> RequestBody? {
        switch storage {
        case .multipart(let parts, let boundary):
            let added = fields.map { field in
                let text =
                    switch field.value {
                    case .text(let text): text
                    case .list(let texts): texts.joined(separator: ",")
                    case nil: ""
                    }
                return MultipartPart.string(text, name: field.name)
            }
            return RequestBody(.multipart(added + parts, boundary: boundary), contentType: contentType)
        case .gzip(let body, let level):
            return body.addingParts(fields).map { RequestBody(.gzip($0, level: level), contentType: nil) }
        default:
            return nil
        }
    }
}

extension JSONEncoder {
    /// An encoder that sorts the names of every object and otherwise works as this one. Unsorted names have the order
    /// of a hash table, which differs in every process. A subclass is used as it is, because it may encode in its own
    /// way.
    package var withSortedKeys: JSONEncoder {
        guard !outputFormatting.contains(.sortedKeys), type(of: self) == JSONEncoder.self else { return self }
        let sorted = JSONEncoder()
        sorted.outputFormatting = outputFormatting.union(.sortedKeys)
        sorted.dateEncodingStrategy = dateEncodingStrategy
        sorted.dataEncodingStrategy = dataEncodingStrategy
        sorted.nonConformingFloatEncodingStrategy = nonConformingFloatEncodingStrategy
        sorted.keyEncodingStrategy = keyEncodingStrategy
        sorted.userInfo = userInfo
        return sorted
    }
}
