import HTTPTypes

extension Response {
    /// The body as text.
    ///
    /// The encoding is that of a byte order mark, which is left out of the text; otherwise the charset of
    /// `Content-Type`; otherwise UTF-8. Labels mean what they mean in browsers (WHATWG Encoding 4.2): `iso-8859-1` and
    /// `us-ascii` are windows-1252, `gb2312` is GB 18030, `shift_jis` is windows-31j, `utf-16` without a mark is
    /// little-endian. The C library's iconv decodes multi-byte encodings and the rarer single-byte ones.
    ///
    /// - Parameters:
    ///   - charset: The charset of the body, whatever the response says. `nil`, the default: as above.
    ///   - lossy: Whether to replace invalid bytes by U+FFFD, and to read an unknown charset as UTF-8, instead of
    ///     throwing.
    /// - Throws: ``ErrandError/responseDecodingFailed`` for an unknown charset, or bytes that are invalid in the
    ///   charset.
    public func text(charset: String? = nil, lossy: Bool = false) throws(ErrandError) -> String {
        let label = charset ?? self.charset
        let encoding = label.map { TextEncoding(label: $0) } ?? .utf8
        do throws(TextEncoding.Failure) {
            return try body.withBytes { (bytes) throws(TextEncoding.Failure) in
                let mark = TextEncoding.byteOrderMark(bytes)
                var found = encoding ?? (lossy ? .utf8 : nil)
                if charset == nil, let mark { found = mark.encoding }
                guard let found else { throw .unavailable }
                let skipped = mark.map { $0.encoding == found ? $0.count : 0 } ?? 0
                return try found.decode(UnsafeRawBufferPointer(rebasing: bytes[skipped...]), isLossy: lossy)
            }
        } catch {
            let charset = "'\((label ?? "utf-8").prefix(64))'"
            let message =
                switch error {
                case .unavailable: "the charset \(charset) is not supported"
                case .invalid(let offset?): "the body is not valid text in charset \(charset) at byte \(offset)"
                case .invalid(nil): "the body is not valid text in charset \(charset)"
                }
            throw .responseDecodingFailed.with(message: message, response: self)
        }
    }

    /// The charset of `Content-Type`; `nil` if it is missing, empty or malformed.
    package var charset: String? {
        guard
            let contentType = HeaderParser.firstValue(
                of: "content-type", having: UInt8(ascii: ";"), in: storage.fieldBlock)
        else { return nil }
        return MediaType(contentType)?.parameter("charset")
    }
}
