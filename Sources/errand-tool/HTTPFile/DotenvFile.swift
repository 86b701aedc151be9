/// A `.env` file: `NAME=value` lines with an optional `export`, optionally quoted values, and comments that begin with
/// `#`.
enum DotenvFile {
    static func parse(_ text: String) -> [String: String] {
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            var line = line.trimmed
            if line.hasPrefix("export ") { line = line.dropFirst("export ".count).trimmed }
            guard line.first != "#", let mark = line.firstIndex(of: "=") else { continue }
            let name = line[..<mark].trimmed
            guard !name.isEmpty else { continue }
            values[String(name)] = String(value(line[line.index(after: mark)...].trimmed))
        }
        return values
    }

    private static func value(_ text: Substring) -> Substring {
        if let quote = text.first, quote == "\"" || quote == "'" {
            let inner = text.dropFirst()
            if let end = inner.firstIndex(of: quote) { return inner[..<end] }
        }
        // In an unquoted value, a number sign after a blank begins a comment.
        var previous: Character = "x"
        let end = text.indices.first { index in
            defer { previous = text[index] }
            return text[index] == "#" && (previous == " " || previous == "\t")
        }
        return text[..<(end ?? text.endIndex)].trimmed
    }
}
