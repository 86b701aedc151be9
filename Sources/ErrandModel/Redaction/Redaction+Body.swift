extension Redaction {
    /// A body without its secrets, by its content type: the values of secret members of JSON (malformed or not), of
    /// secret form fields and of secret parts of a multipart body are replaced. Other bodies are not changed.
    public func body(_ bytes: [UInt8], contentType: String?) -> [UInt8] {
        guard !parameters.isEmpty, !bytes.isEmpty else { return bytes }
        let parts = (contentType ?? "").split(separator: ";", maxSplits: 1)
        let type = parts.first?.lowercased().filter { $0 != " " && $0 != "\t" } ?? ""
        if type == "application/x-www-form-urlencoded" {
            guard let text = String(validating: bytes, as: UTF8.self) else { return Array(Self.placeholder.utf8) }
            return Array(query(text[...]).utf8)
        }
        if type.hasPrefix("multipart/") {
            guard let boundary = Self.boundary(parts.count > 1 ? parts[1] : "") else { return bytes }
            return multipart(bytes, boundary: boundary)
        }
        return type.hasSuffix("/json") || type.hasSuffix("+json") || type.hasSuffix("ndjson") ? json(bytes) : bytes
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

    /// Replaces the content of each part whose `name="..."` is that of a secret.
    private func multipart(_ bytes: [UInt8], boundary: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let next = bytes[position...].firstIndex(of: boundary, after: position) ?? bytes.endIndex
            let part = bytes[position..<next]
            if let head = part.firstIndex(of: Array("\r\n\r\n".utf8), after: position),
                hides(parameter: Self.partName(part[..<head]))
            {
                result += part[..<head] + Array("\r\n\r\n\(Self.placeholder)\r\n".utf8)
            } else {
                result += part
            }
            position = next
        }
        return result
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
