public import FoundationEssentials
public import HTTPTypes

/// One part of a multipart body (RFC 7578). Quotation marks, CR and LF in names and file names are percent-encoded, as
/// in WHATWG's form submission; all other text is sent unchanged, in UTF-8.
public struct MultipartPart: Sendable {
    enum Content: Sendable {
        case bytes([UInt8])
        case data(Data)
        case file(path: String)
        case source(any RequestBodySource)
    }

    let headers: HTTPFields
    let content: Content
    /// Whether a text contained CR, LF or NUL, which `HTTPField` silently replaces by spaces.
    let isMalformed: Bool

    /// A part with exactly these fields; no `Content-Disposition` is added (AFNetworking
    /// `appendPartWithHeaders:body:`).
    public static func raw(headers: HTTPFields, body: [UInt8]) -> MultipartPart {
        MultipartPart(headers: headers, content: .bytes(body))
    }

    /// Bytes, as a file if there is a file name. `contentType` `nil`: by the file name's extension; without a file name
    /// no type is sent.
    public static func bytes(
        _ bytes: [UInt8], name: String, fileName: String? = nil, contentType: String? = nil
    ) -> MultipartPart {
        MultipartPart(name: name, fileName: fileName, contentType: contentType, content: .bytes(bytes))
    }

    /// Bytes, as a file if there is a file name. `contentType` `nil`: by the file name's extension; without a file name
    /// no type is sent.
    public static func data(
        _ data: Data, name: String, fileName: String? = nil, contentType: String? = nil
    ) -> MultipartPart {
        MultipartPart(name: name, fileName: fileName, contentType: contentType, content: .data(data))
    }

    /// The text of a form field.
    public static func string(_ text: String, name: String, contentType: String? = nil) -> MultipartPart {
        MultipartPart(name: name, fileName: nil, contentType: contentType, content: .bytes(Array(text.utf8)))
    }

    /// A whole regular file, read while it is sent; the file must not change meanwhile. A file that cannot be opened is
    /// ``ErrandError/fileUnreadable`` before any socket is opened. `fileName` `nil`: the path's last component.
    /// `contentType` `nil`: by the file name's extension.
    public static func file(
        _ path: String, name: String, fileName: String? = nil, contentType: String? = nil
    ) -> MultipartPart {
        let last = path.utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) }
        return MultipartPart(
            name: name, fileName: fileName ?? last ?? "file", contentType: contentType, content: .file(path: path))
    }

    /// The bytes of a source. If every part has a length, the whole body has one. `contentType` `nil`: by the file
    /// name's extension; without a file name no type is sent.
    public static func source(
        _ source: any RequestBodySource, name: String, fileName: String? = nil, contentType: String? = nil
    ) -> MultipartPart {
        MultipartPart(name: name, fileName: fileName, contentType: contentType, content: .source(source))
    }

    /// The chunks of an asynchronous sequence, `length` bytes in total (`nil`: not known). `make` is called for each
    /// transfer, so that the body can be resent.
    public static func stream<S: AsyncSequence>(
        length: Int64?, name: String, fileName: String? = nil, contentType: String? = nil,
        _ make: @escaping @Sendable () throws -> S
    ) -> MultipartPart where S.Element: Collection<UInt8> {
        source(
            SequenceBodySource(length: length, isReplayable: true, make), name: name, fileName: fileName,
            contentType: contentType)
    }

    init(headers: HTTPFields, content: Content, isMalformed: Bool = false) {
        self.headers = headers
        self.content = content
        self.isMalformed = isMalformed
    }

    init(name: String, fileName: String?, contentType: String?, content: Content) {
        var disposition = "form-data; name=\"\(Self.escaped(name))\""
        if let fileName { disposition += "; filename=\"\(Self.escaped(fileName))\"" }
        let type = contentType ?? fileName.map { FileExtensions.mediaType(ofFileNamed: $0) }
        var headers = HTTPFields()
        // Lenient, so that UTF-8 is not changed.
        headers.append(HTTPField(name: .contentDisposition, lenientValue: Array(disposition.utf8)))
        if let type { headers.append(HTTPField(name: .contentType, lenientValue: Array(type.utf8))) }
        let isMalformed = (disposition + (type ?? "")).utf8.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D }
        self.init(headers: headers, content: content, isMalformed: isMalformed)
    }

    private static func escaped(_ text: String) -> String {
        PercentEncoding.encode(text) { $0 != UInt8(ascii: "\"") && $0 != 0x0D && $0 != 0x0A }
    }
}

/// Lists the parts of ``RequestBody/multipart(boundary:_:)``.
@resultBuilder
public enum MultipartBuilder {
    /// One part.
    public static func buildExpression(_ part: MultipartPart) -> [MultipartPart] { [part] }
    /// Many parts.
    public static func buildExpression(_ parts: [MultipartPart]) -> [MultipartPart] { parts }
    /// All parts of a block.
    public static func buildBlock(_ parts: [MultipartPart]...) -> [MultipartPart] { parts.flatMap { $0 } }
    /// `if` without `else`.
    public static func buildOptional(_ parts: [MultipartPart]?) -> [MultipartPart] { parts ?? [] }
    /// `if`
    public static func buildEither(first parts: [MultipartPart]) -> [MultipartPart] { parts }
    /// `else`
    public static func buildEither(second parts: [MultipartPart]) -> [MultipartPart] { parts }
    /// `for`
    public static func buildArray(_ parts: [[MultipartPart]]) -> [MultipartPart] { parts.flatMap { $0 } }
}
