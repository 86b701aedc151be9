/// The text of a file, split into lines. Lines end with LF or CRLF; a byte order mark is removed.
enum HTTPFileLines {
    /// Throws ``HTTPFileError`` at the first byte that is not UTF-8.
    static func text(_ bytes: [UInt8]) throws(HTTPFileError) -> String {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = bytes.starts(with: mark) ? bytes[3...] : bytes[...]
        if let text = String(validating: content, as: UTF8.self) { return text }
        guard !bytes.starts(with: [0xFF, 0xFE]), !bytes.starts(with: [0xFE, 0xFF]) else {
            throw HTTPFileError(FilePosition(line: 1), "the file is UTF-16, expected UTF-8")
        }
        var line = 1
        for bytes in content.split(separator: 0x0A, omittingEmptySubsequences: false) {
            if String(validating: bytes, as: UTF8.self) == nil {
                // The decoder stops at the first invalid byte. The number of scalars before it gives the column.
                var column = 1
                var decoder = UTF8()
                var rest = bytes.makeIterator()
                while case .scalarValue = decoder.decode(&rest) { column += 1 }
                throw HTTPFileError(FilePosition(line: line, column: column), "the byte is not valid UTF-8")
            }
            line += 1
        }
        throw HTTPFileError(nil, "the file is not valid UTF-8")
    }

    static func split(_ text: String) -> [Substring] {
        text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            Substring(line.last == 0x0D ? line.dropLast() : line)
        }
    }
}

extension Substring {
    /// The text without blanks and tabs at both ends.
    var trimmed: Substring {
        var bytes = utf8
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes = bytes.dropFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes = bytes.dropLast() }
        return Substring(bytes)
    }

    var isBlank: Bool { utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 } }

    /// The column at which `part`, a part of this line, begins.
    func column(of part: Substring) -> Int {
        1 + self[startIndex..<Swift.max(startIndex, part.startIndex)].unicodeScalars.count
    }
}
