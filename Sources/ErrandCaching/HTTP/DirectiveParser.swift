/// Reads a list of directives, `name`, `name=token` or `name="quoted"` (RFC 9111 5.2). Unreadable text is skipped up to
/// the next comma, so that a directive after the comma still counts.
struct DirectiveParser {
    enum Argument: Hashable {
        case none
        case text(String)
        case malformed
    }

    struct Directive: Hashable {
        /// In lower case.
        let name: String
        let argument: Argument
    }

    private var scanner: FieldScanner

    init(_ value: String) {
        scanner = FieldScanner(value)
    }

    mutating func next() -> Directive? {
        while true {
            scanner.skipBlanks(and: ",")
            guard !scanner.isAtEnd else { return nil }
            guard let name = scanner.token()?.lowercased() else {
                scanner.skip(to: ",")
                continue
            }
            scanner.skipBlanks()
            guard scanner.take("=") else {
                scanner.skip(to: ",")
                return Directive(name: name, argument: .none)
            }
            scanner.skipBlanks()
            return Directive(name: name, argument: argument())
        }
    }

    private mutating func argument() -> Argument {
        let opening = scanner.position
        guard let (quoted, isClosed) = scanner.quoted() else {
            let text = scanner.text(to: ",")
            return text.isEmpty ? .malformed : .text(text)
        }
        if isClosed {
            scanner.skipBlanks()
            if scanner.isAtEnd || scanner.isNext(",") { return .text(quoted) }
        }
        // The string has no closing quote, or text follows it. The directive ends at the next comma, so that a stray
        // quote cannot hide a no-store. Each quote is read twice at most: as the end of one string and as the start of
        // another.
        scanner.position = opening
        scanner.skip(to: ",")
        return .malformed
    }
}
