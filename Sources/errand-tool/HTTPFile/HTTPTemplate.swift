/// Text with `{{...}}` placeholders.
struct HTTPTemplate: Sendable, Equatable {
    enum Part: Sendable, Equatable {
        case text(String)
        case placeholder(HTTPPlaceholder, FilePosition)
    }

    private(set) var parts: [Part]
    /// The text as written.
    private(set) var source: Substring
    let position: FilePosition

    /// Parses one line, or a whole text with its line ends. A `{{` that is not closed on its line is an error.
    init(_ text: Substring, at position: FilePosition) throws(HTTPFileError) {
        source = text
        parts = []
        self.position = position
        var place = position
        var rest = text.utf8
        var literal = rest.startIndex
        let open = UInt8(ascii: "{")
        while let byte = rest.first {
            rest = rest.dropFirst()
            guard byte == open, rest.first == open else {
                place.advance(over: byte)
                continue
            }
            rest = rest.dropFirst()
            let start = rest.startIndex
            guard let end = Self.end(of: rest) else { throw HTTPFileError(place, "'{{' is not closed on this line") }
            let before = Substring(text.utf8[literal..<text.utf8.index(start, offsetBy: -2)])
            if !before.isEmpty { parts.append(.text(String(before))) }
            parts.append(.placeholder(try HTTPPlaceholder(Substring(rest[..<end]).trimmed, at: place), place))
            place.column += 2
            for byte in rest[..<end] { place.advance(over: byte) }
            place.column += 2
            rest = rest[end...].dropFirst(2)
            literal = rest.startIndex
        }
        let last = Substring(text.utf8[literal...])
        if !last.isEmpty { parts.append(.text(String(last))) }
    }

    /// Text without placeholders, even if it contains `{{`.
    init(literal text: String, at position: FilePosition) {
        source = text[...]
        parts = text.isEmpty ? [] : [.text(text)]
        self.position = position
    }

    /// The position of the next `}}` on this line.
    private static func end(of text: Substring.UTF8View) -> Substring.Index? {
        var previous: Substring.Index?
        for index in text.indices {
            switch text[index] {
            case 0x0A: return nil
            case UInt8(ascii: "}"):
                if let previous { return previous }
                previous = index
            default: previous = nil
            }
        }
        return nil
    }

    /// Appends a template from another line.
    mutating func append(_ other: HTTPTemplate) {
        parts += other.parts
        source += other.source
    }

    var placeholders: [(placeholder: HTTPPlaceholder, position: FilePosition)] {
        parts.compactMap { part in
            if case .placeholder(let placeholder, let position) = part { (placeholder, position) } else { nil }
        }
    }
}

extension FilePosition {
    /// Advances the position by one byte of UTF-8.
    fileprivate mutating func advance(over byte: UInt8) {
        if byte == 0x0A {
            line += 1
            column = 1
        } else if byte & 0xC0 != 0x80 {
            column += 1
        }
    }
}
