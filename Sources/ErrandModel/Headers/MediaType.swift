/// A media type (RFC 9110 8.3.1) in lower case, with its parameters. `nil` for text that is not a media type.
struct MediaType: Hashable {
    let type: String
    let subtype: String
    let parameters: [(name: String, value: String)]

    init?(_ text: String) {
        var scanner = FieldScanner(text)
        scanner.skipBlanks()
        guard let type = scanner.token(), scanner.take("/"), let subtype = scanner.token() else {
            return nil
        }
        scanner.skipBlanks()
        guard scanner.isAtEnd || scanner.isNext(";") else { return nil }
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        self.parameters = Self.parameters(&scanner)
    }

    /// The value of the first parameter of that lower-case name; `nil` if it is missing or empty.
    func parameter(_ name: String) -> String? {
        parameters.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    static func == (left: MediaType, right: MediaType) -> Bool {
        left.type == right.type && left.subtype == right.subtype
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(subtype)
    }
}

extension MediaType {
    /// Reads what servers send, not only what the grammar allows: a malformed parameter is skipped up to the next `;`,
    /// and a quoted string need not be closed.
    private static func parameters(_ scanner: inout FieldScanner) -> [(name: String, value: String)] {
        var found: [(name: String, value: String)] = []
        while !scanner.isAtEnd {
            scanner.skip(to: ";")
            guard scanner.take(";") else { break }
            scanner.skipBlanks()
            guard let name = scanner.token() else { continue }
            scanner.skipBlanks()
            guard scanner.take("=") else { continue }
            scanner.skipBlanks()
            found.append((name.lowercased(), scanner.quoted()?.text ?? scanner.text(to: ";")))
        }
        return found
    }
}
