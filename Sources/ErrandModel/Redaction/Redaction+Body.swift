extension Redaction {
    /// A body without its secrets, by its content type: the values of secret members of JSON (malformed or not), of
    /// secret form fields and of secret parts of a multipart body are replaced. Other parts of a multipart body are treated
    /// by their own types. Text, and a body without a type, is JSON if it begins with `{` or `[`; so is the data of
    /// server-sent events. Other bodies are not changed.
    public func body(_ bytes: [UInt8], contentType: String?) -> [UInt8] {
        body(bytes, contentType: contentType, by: nil, depth: 0)
    }

    /// The same. In JSON, values keep their types, and `pseudonyms` provides the words for texts.
    package func body(_ bytes: [UInt8], contentType: String?, by pseudonyms: Pseudonyms?) -> [UInt8] {
        body(bytes, contentType: contentType, by: pseudonyms, depth: 0)
    }

    /// The limit of nested multipart bodies; deeper ones are hidden as a whole.
    private static let deepestParts = 4

    private func body(_ bytes: [UInt8], contentType: String?, by pseudonyms: Pseudonyms?, depth: Int) -> [UInt8] {
        guard !parameters.isEmpty, !bytes.isEmpty else { return bytes }
        let parts = (contentType ?? "").split(separator: ";", maxSplits: 1)
        let type = parts.first?.lowercased().filter { $0 != " " && $0 != "\t" } ?? ""
        if type == "application/x-www-form-urlencoded" {
            guard let text = String(validating: bytes, as: UTF8.self) else { return Array(Self.placeholder.utf8) }
            return Array(query(text[...]).utf8)
        }
        if type.hasPrefix("multipart/") {
            guard let boundary = Self.boundary(parts.count > 1 ? parts[1] : "") else { return bytes }
            guard depth < Self.deepestParts else { return Array(Self.placeholder.utf8) }
            return multipart(bytes, boundary: boundary, by: pseudonyms, depth: depth)
        }
        if type.contains("json") { return json(bytes, by: pseudonyms) }
        if type == "text/event-stream" { return events(bytes, by: pseudonyms) }
        guard type.isEmpty || type.hasPrefix("text/"), Self.looksLikeJSON(bytes, 0) else { return bytes }
        return json(bytes, by: pseudonyms)
    }

    /// Whether the first byte that is not a blank begins an object or an array.
    private static func looksLikeJSON(_ bytes: [UInt8], _ start: Int) -> Bool {
        // Some programs write a byte order mark.
        let text = bytes.dropFirst(start).starts(with: [0xEF, 0xBB, 0xBF]) ? start + 3 : start
        let index = JSONSkipper.endOfBlanks(bytes, text)
        return index < bytes.count && (bytes[index] == UInt8(ascii: "{") || bytes[index] == UInt8(ascii: "["))
    }

    /// Server-sent events, line by line: `data: {"token": "x"}`.
    private func events(_ bytes: [UInt8], by pseudonyms: Pseudonyms?) -> [UInt8] {
        let mark = Array("data:".utf8)
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            let line = Array(line)
            guard line.starts(with: mark), Self.looksLikeJSON(line, mark.count) else { return line }
            return json(line, by: pseudonyms)
        }
        return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// The delimiter of a multipart body's parts, `--` included; `nil`: the type is another one, or has no boundary.
    package static func delimiter(ofType contentType: String) -> [UInt8]? {
        let parts = contentType.split(separator: ";", maxSplits: 1)
        guard parts.count > 1, parts[0].lowercased().hasPrefix("multipart/") else { return nil }
        return boundary(parts[1])
    }

    private static func boundary(_ parameters: Substring) -> [UInt8]? {
        for parameter in parameters.split(separator: ";") {
            guard let mark = parameter.firstIndex(of: "=") else { continue }
            guard parameter[..<mark].lowercased().filter({ $0 != " " }) == "boundary" else { continue }
            let value = parameter[parameter.index(after: mark)...].filter { $0 != "\"" && $0 != " " }
            return value.isEmpty ? nil : Array("--\(value)".utf8)
        }
        return nil
    }

    /// Replaces the content of each part whose `name="..."` is the name of a secret, and the secrets within other parts.
    private func multipart(
        _ bytes: [UInt8], boundary: [UInt8], by pseudonyms: Pseudonyms?, depth: Int
    ) -> [UInt8] {
        var result: [UInt8] = []
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let next = bytes[position...].firstIndex(of: boundary, after: position) ?? bytes.endIndex
            let part = bytes[position..<next]
            position = next
            guard let head = part.firstIndex(of: Array("\r\n\r\n".utf8), after: part.startIndex) else {
                result += part
                continue
            }
            if hides(parameter: Self.partName(part[..<head])) {
                result += part[..<head] + Array("\r\n\r\n\(Self.placeholder)\r\n".utf8)
            } else {
                // The last line end belongs to the boundary (RFC 2046 5.1.1).
                let content = part[head...].dropFirst(4)
                let end = content.suffix(2).elementsEqual([0x0D, 0x0A]) ? content.endIndex - 2 : content.endIndex
                result += part[..<content.startIndex]
                result += body(
                    Array(content[..<end]), contentType: Self.partType(part[..<head]), by: pseudonyms, depth: depth + 1)
                result += content[end...]
            }
        }
        return result
    }

    /// The value of a part's `Content-Type`.
    private static func partType(_ head: ArraySlice<UInt8>) -> String? {
        let mark = "content-type:"
        for line in String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline) {
            guard line.lowercased().hasPrefix(mark) else { continue }
            return String(line.dropFirst(mark.count))
        }
        return nil
    }

    private static func partName(_ head: ArraySlice<UInt8>) -> String {
        let text = String(decoding: head, as: UTF8.self)
        for mark in ["; name=\"", ";name=\""] {
            guard let range = text.firstRange(of: mark) else { continue }
            return String(text[range.upperBound...].prefix { $0 != "\"" })
        }
        return ""
    }
}

extension ArraySlice<UInt8> {
    /// The position of the next `pattern` after `start`.
    fileprivate func firstIndex(of pattern: [UInt8], after start: Int) -> Int? {
        guard let first = pattern.first, count >= pattern.count else { return nil }
        var index = start + 1
        while index <= endIndex - pattern.count {
            if self[index] == first, self[index..<(index + pattern.count)].elementsEqual(pattern) { return index }
            index += 1
        }
        return nil
    }
}

extension String {
    /// The range of the first `text`.
    fileprivate func firstRange(of text: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            formIndex(after: &start)
        }
        return nil
    }
}
