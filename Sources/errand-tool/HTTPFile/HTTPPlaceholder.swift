/// The content of a placeholder, between `{{` and `}}`.
enum HTTPPlaceholder: Sendable, Hashable {
    case variable(String)
    case system(SystemVariable)
    case exchange(ExchangeReference)

    init(_ text: Substring, at position: FilePosition) throws(HTTPFileError) {
        if text.utf8.first == UInt8(ascii: "$") {
            self = .system(try SystemVariable(text, at: position))
        } else if let reference = try ExchangeReference(text, at: position) {
            self = .exchange(reference)
        } else {
            guard HTTPPlaceholder.isName(text) else {
                let problem =
                    text.utf8.first == UInt8(ascii: "%") ? "percent-encoding by '{{%name}}' is not supported" : nil
                throw HTTPFileError(position, problem ?? "'\(text)' is not the name of a variable")
            }
            self = .variable(String(text))
        }
    }

    /// Whether the text is a valid variable name.
    static func isName(_ text: Substring) -> Bool {
        let forbidden = " \t\r\n{}%$@\"'=:/,;()"
        return !text.isEmpty && !text.unicodeScalars.contains { forbidden.unicodeScalars.contains($0) }
    }
}

/// `login.response.body.$.token` or `login.response.body.token`, `login.response.body[0]`,
/// `login.response.headers.X-Token`, `login.response.body.*`; the same forms with `request`.
struct ExchangeReference: Sendable, Hashable {
    enum Side: String, Sendable {
        case request
        case response
    }

    enum Part: Sendable, Hashable {
        case body
        case json(JSONPath)
        case header(String)
    }

    let name: String
    let side: Side
    let part: Part

    /// `nil`: the text is not a reference.
    init?(_ text: Substring, at position: FilePosition) throws(HTTPFileError) {
        let words = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count >= 2, let side = Side(rawValue: String(words[1])), HTTPPlaceholder.isName(words[0]) else {
            return nil
        }
        name = String(words[0])
        self.side = side
        let rest = words.count > 3 ? words[3] : ""
        switch words.count > 2 ? words[2] : "" {
        case "body" where rest == "*":
            part = .body
        case "body" where rest.utf8.first == UInt8(ascii: "$"):
            part = .json(try JSONPath(rest, at: position))
        case "body" where rest.utf8.first == UInt8(ascii: "/"):
            throw HTTPFileError(position, "XPath is not supported: '\(text)'")
        case "body" where !rest.isEmpty:
            // The form of JetBrains' client and httpyac: a path below the root.
            part = .json(try JSONPath(rest.hasPrefix("[") ? "$" + rest : "$." + rest, at: position))
        case let word where word.hasPrefix("body["):
            // An element of a list, or a member by its quoted name. The split above treats a dot within the quotes as a
            // separator, so the parts are joined again.
            let path = word.dropFirst("body".count) + (words.count > 3 ? "." + rest : "")
            part = .json(try JSONPath("$" + path, at: position))
        case "headers" where !rest.isEmpty && rest != "*":
            part = .header(String(rest))
        default:
            throw HTTPFileError(
                position,
                "'\(text)' does not end in 'body.*', 'body.' with a JSON path, or 'headers.' with a name")
        }
    }
}
