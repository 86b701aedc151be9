package import HTTPTypes

extension HAR.Body {
    /// The body of a message as a HAR keeps it: without its secrets, and without its content codings, because secrets
    /// cannot be found in encoded bytes. If a coding cannot be undone, the bytes are dropped.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, or the first of them.
    ///   - count: The number of bytes of the whole body.
    ///   - type: The media type.
    ///   - fields: The message's fields. If a coding was undone, `Content-Encoding` is removed.
    ///   - isDecoded: Whether the codings are undone already.
    ///   - limit: The most bytes that are kept.
    ///   - redaction: The secrets to hide.
    ///   - pseudonyms: The words that replace them; `nil`: one word for all.
    package init(
        keeping bytes: [UInt8], of count: Int, type: String?, fields: inout HTTPFields, isDecoded: Bool, limit: Int,
        _ redaction: Redaction, by pseudonyms: Pseudonyms? = nil
    ) {
        let isCut = bytes.count < count
        self.init(mimeType: type ?? "", size: isCut ? count : nil, isTruncated: isCut)
        guard let codings = fields[.contentEncoding], !isDecoded, !bytes.isEmpty, !redaction.parameters.isEmpty else {
            self.bytes = redaction.body(bytes, contentType: type, by: pseudonyms)
            return
        }
        guard let plain = Inflater.plain(bytes, codings: codings, atMost: limit) else {
            size = count
            isTruncated = true
            return
        }
        self.bytes = redaction.body(plain.bytes, contentType: type, by: pseudonyms)
        isTruncated = isCut || !plain.isWhole
        // The size was that of the encoded bytes on the wire.
        size = nil
        fields[.contentEncoding] = nil
    }
}
